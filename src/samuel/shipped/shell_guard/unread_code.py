"""Code of other languages, which is not read: whether it starts programs or deletes files, and its texts."""

from __future__ import annotations

import re

_STARTS = re.compile(
    r"\bsystem\b|\bpopen|\bsubprocess\b|\bexec[lv]?[pe]?\w*\s*\(|\bos\.exec|\bspawn|child_process|\bpassthru\b"
    r"|\bshell_exec\b|\bproc_open\b|\bpty\b|\bimport_module\b|__import__|\beval\b|\bos\.execute|\bio\.popen"
    r"|\bKernel\b|%x[\[{(]|`[^`]+`|\bqx\b|\bRuntime\b|\bProcessBuilder\b|\bpcntl_exec\b|\bcommandlist\b"
    r"|\bexec\s*[\"'(\[%]|\bexec\s+/|\bcallproc|\bprocess\.call|\bfork\b|\bcmd\s*\(|\brequire\b.*\bvm\b"
    r"|^\s*!|^:|\bnormal\b.*!|:\s*(?:!|sh\b|shell|te(?:rm|\b)|py|lua|ruby|perl|tcl|so\b|source)|\\!|%\(|esyscmd|syscmd|\(term\b|\bexec\s*\{|\|\s*getline|\bshell\b|getline\s*<|print\s*\|",
    re.IGNORECASE | re.MULTILINE,
)
_DELETES = re.compile(
    r"\brm\s+-\w*[rRf]|\brmtree\b|\bunlink\b|\bos\.remove|\bos\.rmdir|\.rmdir\s*\(|\bremovedirs\b|\brm_rf?\b|\brm_r\b|\bremove_entry"
    r"|\brmSync\b|\bunlinkSync\b|\brmdirSync\b|\bfs\.(?:rm|unlink|rmdir)|\bFile\.delete|\bFileUtils\.(?:rm|remove)"
    r"|\bRemove-Item\b|\bClear-(?:Content|Disk)\b|\bFormat-Volume\b|\b(?:ri|rm|del|erase|rd|rmdir)\b[^;|&\n]*\s?-(?:Force|fo|Recurse)\b|\b(?:rd|rmdir)\s+/[sq]|\b(?:del|erase)\s+/[fsq]"
    r"|\bdelete-(?:directory|file)\b|\bDir\.(?:delete|rmdir)|\brimraf\b|\bdel_tree\b|\bremove_dir_all\b|\bFiles\.delete|\bos\.truncate",
    re.IGNORECASE,
)
_TEXT = re.compile(r"""'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`|%x[\[{(]([^\]})]*)[\]})]""")
_LIST = re.compile(r"""[\[(]\s*((?:'[^'\n]*'|"[^"\n]*")(?:\s*,\s*(?:'[^'\n]*'|"[^"\n]*"))+)\s*[\])]""")


_WRITES = re.compile(
    r"['\"][wax]b?\+?['\"]|\bwrite|\bappendFile|\bunlink|\bremove|\brename|\btruncate|\bdump\(|\bcopy|\bmove|\bsymlink|\bchmod"
    r"|\bFile\.(?:write|open)|\bfile_put_contents|\bfputs\b|>\s*['\"$]|\bSet-Content|\bOut-File|\bspew\b",
    re.IGNORECASE,
)
_SENDS = re.compile(
    r"\burlopen\b|\brequests\.|\bhttpx\b|\bhttp\.client\b|\bsocket\b|\bfetch\(|\bhttps?\.(?:request|get|post)|\bLWP\b|\bNet::HTTP"
    r"|\bopen-uri\b|\bcurl_|\bsmtplib\b|\bftplib\b|\bparamiko\b|\baiohttp\b|\baxios\b|Invoke-(?:WebRequest|RestMethod)",
    re.IGNORECASE,
)


def writes_files(code: str) -> bool:
    return bool(_WRITES.search(code))


def sends_data(code: str) -> bool:
    return bool(_SENDS.search(code))


def starts_programs(code: str) -> bool:
    return bool(_STARTS.search(code))


def deletes_files(code: str) -> bool:
    return bool(_DELETES.search(code))


def command_texts(code: str) -> list[str]:
    """The texts of code that starts programs: each may be a command line, a list of texts the words of one."""
    if not starts_programs(code):
        return []
    lists = [" ".join(quoted_texts(match[1])) for match in _LIST.finditer(code)]
    return list(dict.fromkeys(text for text in (*lists, *quoted_texts(code)) if text.strip()))


def quoted_texts(code: str) -> list[str]:
    return [re.sub(r"\\(.)", r"\1", next(filter(None, match.groups()), "")) for match in _TEXT.finditer(code)]
