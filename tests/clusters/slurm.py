"""A Slurm on this machine, on free ports: munged, slurmctld and slurmd in a temporary folder."""

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import time
from pathlib import Path

from server.stack import free_port

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "srun", "scancel")
CONF = """
ClusterName=recgauge
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={daemon}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,sched_min_interval=100000
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SlurmdTimeout=60
MinJobAge=300
KillWait=15
NodeName={host} NodeAddr=127.0.0.1 NodeHostname={host} CPUs=4 RealMemory=16000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> list[str]:
    """Return what this machine lacks to run Slurm."""
    return [name for name in PROGRAMS if not found(name)] + ([] if os.geteuid() == 0 else ["root"])


def found(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


class Slurm:
    """The daemons; a context that ends them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.daemons: list[subprocess.Popen[bytes]] = []

    @property
    def environment(self) -> dict[str, str]:
        return {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def __enter__(self) -> "Slurm":
        for name in ("munge", "state", "spool"):
            (self.folder / name).mkdir(mode=0o755, parents=True)
        values = {"folder": self.folder, "host": socket.gethostname().partition(".")[0]}
        values |= {
            "controller": free_port(),
            "daemon": free_port(),
            "user": pwd.getpwuid(os.geteuid()).pw_name,
        }
        (self.folder / "slurm.conf").write_text(CONF.format(**values))
        try:
            self._start_munge()
            self._start("slurmctld", "-D", "-i")
            self._start("slurmd", "-D")
            self._await()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.command("scancel", "--me", check=False)
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(30)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()

    def command(self, name: str, *words: str, check: bool = True) -> str:
        done = subprocess.run(
            [str(found(name)), *words],
            env=os.environ | self.environment, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        if check and done.returncode:
            raise RuntimeError(f"{name}: {done.stderr}")
        return done.stdout

    def _start(self, name: str, *words: str) -> None:
        with (self.folder / f"{name}.out").open("wb") as log:
            self.daemons.append(
                subprocess.Popen(
                    [str(found(name)), *words], env=os.environ | self.environment, stdout=log, stderr=log
                )
            )

    def _start_munge(self) -> None:
        folder = self.folder / "munge"
        key = folder / "key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)
        files = {"key-file": key, "socket": folder / "socket", "pid-file": folder / "pid"}
        files |= {"log-file": folder / "log", "seed-file": folder / "seed"}
        words = [f"--{name}={file}" for name, file in files.items()]
        self._start("munged", "--foreground", "--force", *words)

    def _await(self) -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if "idle" in self.command("sinfo", "--noheader", "--format=%t", check=False):
                return
            time.sleep(0.5)
        logs = "\n".join(file.read_text()[-1000:] for file in self.folder.glob("*.log"))
        raise RuntimeError(f"Slurm did not start: {self.command('sinfo', check=False)}\n{logs}")
