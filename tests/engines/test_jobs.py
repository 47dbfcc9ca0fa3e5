"""A job's state in words, its log, its end: with commands that answer as Slurm's would."""

import os
import stat

import pytest

from distlab import cli
from distlab.engines.slurm import job, submit
from distlab.engines.slurm.job import SlurmFailed, Status, Tail

#: as Slurm 22.05 prints it
PRINTED = (
    "JobId=3 JobName=send receive UserId=student(20077) Priority=4294901757 Nice=0 QOS=(null) "
    "JobState={state} Reason={reason} Dependency=(null) Requeue=1 Restarts={restarts} "
    "ExitCode={code} RunTime=00:00:14 TimeLimit=00:05:00 TimeMin=N/A Partition=course "
    "NodeList=n[1-2] BatchHost=n1 ReqB:S:C:T=0:0:*:* CPUs/Task=1 Command=/home/a b/x.sbatch "
    "StdOut={log} Power= \n"
)


def printed(state, reason="None", code="0:0", restarts=0, log="/home/a b/x-3.out"):
    return PRINTED.format(state=state, reason=reason, code=code, restarts=restarts, log=log)


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """Give commands of Slurm by name, as shell scripts."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))  # no Slurm of this machine
    monkeypatch.setattr(job, "POLL", 0.01)
    monkeypatch.setattr(job, "POLL_LATER", 0.01)
    monkeypatch.setattr(job, "LOOK", 0.01)

    def make(**scripts):
        for name, script in scripts.items():
            (folder / name).write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n")
            (folder / name).chmod(0o755)
        return folder

    return make


def test_what_scontrol_prints_is_read_with_its_spaces():
    found = job.read(printed("RUNNING"))
    assert found == Status(
        3, "RUNNING", "None", nodes="n[1-2]", partition="course", limit="00:05:00",
        ran="00:00:14", log=found.log,
    )  # fmt: skip
    assert str(found.log) == "/home/a b/x-3.out"


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("RUNNING", "job 3 runs on n[1-2]"),
        ("COMPLETED", "job 3 is done after 00:00:14"),
        ("TIMEOUT", "was ended at its time limit of 00:05:00: ask for more with --time"),
        ("PREEMPTED", "had to give its nodes to a job that goes before it: submit it again"),
        ("CANCELLED", "job 3 was cancelled"),
        ("NODE_FAIL", "lost a node of n[1-2]: submit it again"),
        ("OUT_OF_MEMORY", "more memory than it had asked for: ask for more with --mem"),
        ("BOOT_FAIL", "was given nodes that did not start"),
        ("SUSPENDED", "is suspended until its nodes are free again"),
        ("REQUEUE_HOLD", "scontrol release 3"),
        ("LAUNCH_FAILED", "is in the state LAUNCH_FAILED"),
    ],
)
def test_each_state_is_one_sentence(state, said):
    told = job.read(printed(state)).told()
    assert said in told and "\n" not in told


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("3:0", "job 3 failed with exit status 3"),
        ("0:9", "was killed by signal 9 (SIGKILL)"),
        ("143:0", "a program of it was killed by signal 15 (SIGTERM)"),
    ],
)
def test_a_failed_job_says_how(code, said):
    assert said in job.read(printed("FAILED", "NonZeroExitCode", code)).told()


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("None", "job 3 waits"),
        ("Resources", "waits for nodes that are busy now"),
        ("Priority", "waits for jobs that are before it"),
        ("PartitionTimeLimit", "can never start, because partition course has no job run for "
         "00:05:00: cancel it with `scancel 3`"),
        ("PartitionNodeLimit", "ask for fewer with --nodes"),
        ("PartitionDown", "until partition course is up again"),
        ("DependencyNeverSatisfied", "a job that it depends on failed"),
        ("Dependency", "waits for the jobs that it depends on"),
        ("JobHeldUser", "scontrol release 3"),
        ("JobHeldAdmin", "held by an administrator"),
        ("QOSMaxCpuPerUserLimit", "a limit is reached (QOSMaxCpuPerUserLimit)"),
        ("AssocGrpGRES", "a limit of your account is reached (AssocGrpGRES)"),
        ("ReqNodeNotAvail,_UnavailableNodes:n2", "nodes that are down or reserved"),
        ("Nodes_required_for_job_are_DOWN,_DRAINED", "down, drained or reserved"),
        ("BadConstraints", "no node has what it asks for"),
        ("SomethingNew", "waits (SomethingNew)"),
    ],
)  # fmt: skip
def test_a_pending_job_says_what_it_waits_for(reason, said):
    assert said in job.read(printed("PENDING", reason)).told()


def test_a_preempted_job_that_is_queued_again_is_not_over():
    found = job.read(printed("PENDING", "BeginTime", restarts=1))
    assert not found.over
    assert found.told() == (
        "job 3 is back in the queue (restart 1) and waits until its time to begin has come"
    )
    assert "(restart 1)" in job.read(printed("RUNNING", restarts=1)).told()


def test_without_slurm_one_is_told_where_to_go(commands):
    commands()
    told = "there is no sbatch here: log in to the cluster's head"
    with pytest.raises(SlurmFailed, match=told) as failed:
        job.sbatch("#!/bin/sh\n", [])
    assert failed.value._render_traceback_() == [f"NoSlurm: {failed.value}"]


def test_where_slurm_is_installed_without_a_cluster_the_same_is_said(commands):
    commands(
        sbatch="""cat > /dev/null
        echo "sbatch: error: fetch_config: DNS SRV lookup failed" >&2
        echo "sbatch: fatal: Could not establish a configuration source" >&2
        exit 1"""
    )
    with pytest.raises(SlurmFailed, match="sbatch knows of no cluster here: log in to"):
        job.sbatch("#!/bin/sh\n", [])


def test_a_refusal_of_sbatch_is_one_line_without_its_preamble(commands):
    commands(
        sbatch="""cat > /dev/null
        echo "sbatch: error: invalid partition specified: nowhere" >&2
        echo "sbatch: error: Batch job submission failed: Invalid partition name specified" >&2
        exit 1"""
    )
    with pytest.raises(SlurmFailed) as raised:
        job.sbatch("#!/bin/sh\n", [])
    assert str(raised.value) == (
        "sbatch refused: invalid partition specified: nowhere; Batch job submission failed: "
        "Invalid partition name specified"
    )


#: what sbatch 22.05 says to --test-only
START = "Job 5 to start at 2026-11-22T20:00:00 using 2 processors on nodes n[1-2] in partition c"


def test_what_sbatch_would_say_is_asked_without_submitting(commands):
    commands(sbatch=f'test "$1" = --test-only && cat > /dev/null && echo "sbatch: {START}" >&2')
    assert job.tested("#!/bin/sh\n", []) == START


def test_what_sbatch_would_refuse_is_refused(commands):
    commands(sbatch="echo 'allocation failure: Node count specification invalid' >&2; exit 1")
    with pytest.raises(SlurmFailed, match="sbatch refused: .*Node count specification invalid"):
        job.tested(None, ["--nodes=99", "x.sbatch"])


@pytest.mark.parametrize(
    "there", [{}, {"sbatch": "echo 'Could not establish a configuration source' >&2; exit 1"}]
)
def test_where_there_is_no_slurm_nothing_is_said_of_it(commands, there):
    commands(**there)
    assert job.tested("#!/bin/sh\n", []) == ""


def test_a_job_that_slurm_has_forgotten_is_over(commands):
    commands(scontrol="echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    assert job.status(3).told().startswith("job 3 is over, and Slurm has forgotten")


def scripted(folder, *answers):
    """A scontrol that gives one answer after the other, and the last one for ever."""
    for number, answer in enumerate(answers):
        (folder / f"answer-{number}").write_text(answer)
    return f"""cd {folder}
        n=$(cat asked 2>/dev/null || echo 0)
        echo $((n < {len(answers) - 1} ? n + 1 : n)) > asked
        cat answer-$n"""


def test_a_job_is_followed_through_its_states_with_every_line_of_its_log(commands, tmp_path):
    log = tmp_path / "x.out"
    log.write_text("epoch 1\nbar 10%\rbar 90%\nno end")
    commands(scontrol=scripted(tmp_path, *(
        printed(state, log=log) for state in ("PENDING", "RUNNING", "RUNNING", "COMPLETED")
    )))  # fmt: skip
    news = list(job.Job(3).follow())
    assert [one.state for one in news if isinstance(one, Status)] == [
        "PENDING", "RUNNING", "COMPLETED",
    ]  # fmt: skip
    assert [one for one in news if isinstance(one, str)] == ["epoch 1", "bar 90%", "no end"]


def test_a_controller_that_is_silent_for_a_while_is_asked_again(commands, tmp_path):
    once = f"[ -e {tmp_path}/once ] || {{ touch {tmp_path}/once; echo busy >&2; exit 1; }}\n"
    commands(scontrol=once + scripted(tmp_path, printed("COMPLETED")))
    assert [one.state for one in job.Job(3).follow()] == ["COMPLETED"]


def test_an_interrupt_cancels_the_job(commands, tmp_path, capsys):
    folder = tmp_path
    (folder / "running").write_text(printed("RUNNING"))
    (folder / "gone").write_text(printed("CANCELLED", code="0:15"))
    commands(
        scontrol=f"cat {folder}/running", scancel=f"mv {folder}/gone {folder}/running",
    )  # fmt: skip
    submitted = job.Job(3)

    class Impatient(submit.Terminal):
        def state(self, status):
            super().state(status)
            if not status.over:
                raise KeyboardInterrupt

    assert submit.watch(submitted, Impatient()).state == "CANCELLED"
    assert "job 3 was cancelled" in capsys.readouterr().err
    assert not submitted.ok


def test_a_log_that_begins_anew_is_read_anew(tmp_path):
    log, tail = tmp_path / "x.out", Tail()
    assert list(tail.lines(log)) == []
    log.write_text("first attempt\n")
    assert list(tail.lines(log)) == ["first attempt"]
    log.write_text("second\n")
    assert list(tail.lines(log)) == ["second"]
    assert list(tail.lines(None)) == []


def test_the_last_words_of_a_failed_job_say_where_its_log_is(commands, tmp_path, monkeypatch):
    log = tmp_path / "x.out"
    log.write_text("a\nb\nc\nValueError: no\n")
    commands(scontrol=scripted(tmp_path, printed("FAILED", code="1:0", log=log)))
    monkeypatch.chdir(tmp_path)
    assert submit.verdict(job.Job(3)) == (
        "job 3 failed with exit status 1; its log is x.out, which ends: b / c / ValueError: no"
    )


def test_commands_are_those_of_the_path(commands):
    folder = commands(sbatch="cat > /dev/null; echo '12;cluster'")
    assert os.stat(folder / "sbatch").st_mode & stat.S_IXUSR
    assert job.sbatch("#!/bin/sh\n", []).id == 12


def test_a_job_that_nobody_waits_for_is_named_with_what_shows_and_ends_it(
    commands, tmp_path, capsys
):
    commands(sbatch=f'echo "$@" > {tmp_path}/asked; echo 12', scontrol=f"cat {tmp_path}/answer")
    (tmp_path / "answer").write_text(printed("COMPLETED"))
    batch = tmp_path / "x.sbatch"
    batch.write_text("#!/bin/sh\n")
    assert cli.main(["submit", str(batch), "--detach", "--time", "5", "--own"]) == 0
    assert (tmp_path / "asked").read_text() == f"--parsable --time=5 {batch} --own\n"
    assert "`squeue -j 12` shows it, `scancel 12` ends it" in capsys.readouterr().out
    submitted = submit.submit(batch, follow=False)
    assert submitted.id == 12 and submitted.ok and capsys.readouterr().err == ""
