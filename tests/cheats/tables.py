"""All rows."""

from __future__ import annotations

from tests.cheats.called import CALLED
from tests.cheats.detection import DETECTION
from tests.cheats.owners import OWNERS
from tests.cheats.packages import PACKAGE_RUNNERS
from tests.cheats.runners import RUNNERS
from tests.cheats.surroundings import SURROUNDINGS
from tests.cheats.unshown import UNSHOWN
from tests.cheats.weakened import WEAKENED

CHEATS = (*UNSHOWN, *WEAKENED, *RUNNERS, *SURROUNDINGS, *DETECTION, *OWNERS, *PACKAGE_RUNNERS, *CALLED)
