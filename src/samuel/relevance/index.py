"""An index of short texts in SQLite's full-text search, in memory or kept in a file.

SQLite finds the documents that share words with a text and ranks them (BM25, Porter's stems). How sure one can be
of each of them is decided in `confidence.py`, from the stems that the index keeps of every document.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from samuel.relevance.confidence import SYNONYM, UNKNOWN, Asked, Term, confidence, rarity
from samuel.relevance.english import SYNONYMS
from samuel.relevance.words import LONGEST_SENTENCE, informative, sentences, words

FORMAT = f"1 sqlite {sqlite3.sqlite_version}"  # which decides the stems

MOST_TERMS = 64
"""Words of one text that are looked up: the rarest."""

POOL = 64
"""Documents that are looked at closely: the best by BM25."""


class Document(NamedTuple):
    id: str
    fields: Mapping[str, str]


class Hit(NamedTuple):
    id: str
    score: float
    """How sure it is that the text asks for this document: 0 to 1."""
    matched: Mapping[str, tuple[str, ...]]
    """For each field the words of the text that were found there."""

_ALIKE = {word: tuple(sorted(group - {word})) for group in SYNONYMS for word in group}

class Index:
    def __init__(self, db, fields):
        self.db=db; self.fields=fields
        (self.n,)=self.db.execute("select count(*) from ids").fetchone()

    @classmethod
    def build(cls, documents, fields):
        db=sqlite3.connect(":memory:", isolation_level=None)
        cls.fill(db, documents, fields)
        return cls(db, fields)

    @staticmethod
    def fill(db, documents, fields):
        db.execute("begin")
        db.execute("create table ids(doc integer primary key, id text)")
        db.execute(f"create virtual table documents using fts5({','.join(fields)}, content='', tokenize='porter unicode61')")
        for n,d in enumerate(sorted(documents)):
            db.execute("insert into ids values(?,?)",(n,d.id))
            db.execute(f"insert into documents(rowid,{','.join(fields)}) values(?{',?'*len(fields)})",(n,*(" ".join(words(d.fields.get(f,""))) for f in fields)))
        docs=sorted(documents)
        ph=[{f:[[w for w in words(p) if informative(w)] for p in d.fields.get(f,"").split("\n")] for f in fields} for d in docs]
        allw={w for d in ph for f in d.values() for p in f for w in p}
        st=_stems(db,allw)
        db.execute("create table stems(doc, field, stems, primary key(doc,field)) without rowid")
        freq={}
        for n,d in enumerate(ph):
            seen=set()
            for f,ps in d.items():
                phr=[" ".join(sorted({st[w] for w in p if w in st})) for p in ps]
                db.execute("insert into stems values(?,?,?)",(n,f,"\n".join(x for x in phr if x)))
                for x in phr: seen.update(x.split())
            for x in seen: freq[x]=freq.get(x,0)+1
        db.execute("create table frequencies(stem primary key, documents) without rowid")
        db.executemany("insert into frequencies values(?,?)",sorted(freq.items()))
        db.execute("commit")

    def stems(self, ws):
        return _stems(self.db, ws)

    def search(self, text, weights, limit=10, floor=0.0):
        sents=sentences(text)
        whole=[w for s in sents for w in s]
        if len(sents)>1 and len(whole)<=LONGEST_SENTENCE: sents.append(whole)
        sents=sents[:64]
        vocab=set()
        for s in sents:
            vocab.update(w for w in s if informative(w))
            vocab.update(a+b for a,b in zip(s,s[1:]))
            for w in s: vocab.update(_ALIKE.get(w,()))
        st=self.stems(vocab)
        df={}
        for stem in set(st.values()):
            r=self.db.execute("select documents from frequencies where stem=?",(stem,)).fetchone()
            if r: df[stem]=r[0]
        askeds=[]; lookup={}
        for s in sents:
            terms={}; skip=False
            for i,w in enumerate(s):
                if skip: skip=False; continue
                joined=w+s[i+1] if i+1<len(s) else ""
                if joined and df.get(st.get(joined)) and len(joined)>4:
                    t=self.term(f"{w} {s[i+1]}", joined, st, df); skip=True
                    lookup[joined]=df[st[joined]]
                elif informative(w) and w in st:
                    t=self.term(w,w,st,df)
                    for x in (w,*_ALIKE.get(w,())):
                        if st.get(x) in df: lookup[x]=df[st[x]]
                else: continue
                terms.setdefault(st.get(joined if skip else w),t)
            if terms: askeds.append(tuple(terms.values()))
        if not lookup: return []
        chosen=[w for w,_ in sorted(lookup.items(), key=lambda p:(p[1],p[0]))[:MOST_TERMS]]
        q=" OR ".join(f'"{w}"' for w in chosen)
        rows=self.db.execute(f"select rowid, bm25(documents,{','.join(str(weights[f]) for f in self.fields)}) as s from documents where documents match ? order by s, rowid limit ?",(q,POOL)).fetchall()
        out=[]
        for doc,s in rows:
            fields={f:[frozenset(y.split()) for y in x.split('\n')] for f,x in self.db.execute("select field,stems from stems where doc=?",(doc,))}
            best=max((confidence(a,fields,weights) for a in askeds), key=lambda m:m.score)
            (id,)=self.db.execute("select id from ids where doc=?",(doc,)).fetchone()
            out.append((best.score,id,best.words,s))
        out.sort(key=lambda x:(-x[0],x[1]))
        return [o for o in out if o[0]>=floor][:limit]

    def term(self, shown, w, st, df):
        stem=st[w]
        alts={st[x]:SYNONYM for x in _ALIKE.get(w,()) if st.get(x) in df}
        alts[stem]=1.0
        known=[df[x] for x in alts if x in df]
        if stem in df: weight=rarity(self.n,df[stem])
        elif known: weight=max(UNKNOWN, max(rarity(self.n,k) for k in known))
        else: weight=UNKNOWN
        return Term(shown,alts,weight)

def _stems(db, ws):
    ws=sorted(set(ws))
    db.execute("create virtual table if not exists temp.asked using fts5(word, tokenize='porter unicode61')")
    db.execute("create virtual table if not exists temp.asked_stems using fts5vocab(temp, asked, instance)")
    db.execute("delete from temp.asked")
    db.executemany("insert into temp.asked(rowid, word) values(?,?)", list(enumerate(ws)))
    return {ws[doc]: term for term,doc in db.execute("select term,doc from temp.asked_stems")}
