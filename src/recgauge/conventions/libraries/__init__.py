"""What other libraries compute under the names of metrics, one file a library."""

from recgauge.conventions.libraries.capri import CAPRI
from recgauge.conventions.libraries.cornac import CORNAC
from recgauge.conventions.libraries.elliot import ELLIOT
from recgauge.conventions.libraries.implicit import IMPLICIT
from recgauge.conventions.libraries.irspack import IRSPACK
from recgauge.conventions.libraries.lenskit import LENSKIT
from recgauge.conventions.libraries.ranx import RANX
from recgauge.conventions.libraries.recbole import RECBOLE
from recgauge.conventions.libraries.recmetrics import RECMETRICS
from recgauge.conventions.libraries.recommenders import RECOMMENDERS
from recgauge.conventions.libraries.rectools import RECTOOLS
from recgauge.conventions.libraries.replay import REPLAY
from recgauge.conventions.libraries.sklearn import SKLEARN
from recgauge.conventions.libraries.trec import TREC

LIBRARIES = (
    TREC,
    RANX,
    RECBOLE,
    LENSKIT,
    RECTOOLS,
    CORNAC,
    IRSPACK,
    REPLAY,
    ELLIOT,
    RECOMMENDERS,
    RECMETRICS,
    CAPRI,
    IMPLICIT,
    SKLEARN,
)
