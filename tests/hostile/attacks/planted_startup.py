# tries: start-up files and patched environment for the exercises that follow
# status: passed

home = os.environ["HOME"]
site = os.path.join(home, ".local/lib/python%d.%d/site-packages" % sys.version_info[:2])
os.makedirs(site, exist_ok=True)
for name in ("sitecustomize.py", "usercustomize.py", "torch.py", "distlab.py"):
    for folder in (site, home, "/sandbox", os.getcwd()):
        with open(os.path.join(folder, name), "w") as file:
            file.write("raise SystemExit('planted')")
with open(os.path.join(site, "evil.pth"), "w") as file:
    file.write("import os; os._exit(9)")
os.environ.update(PYTHONSTARTUP="/sandbox/sitecustomize.py", PYTHONPATH="/sandbox", LD_PRELOAD="x",
                  PYTHONHOME="/sandbox", GLOO_SOCKET_IFNAME="nothing", OMP_NUM_THREADS="0")
sys.path.insert(0, "/sandbox")


def relay(rank, size, tensor):
    return right_relay(rank, size, tensor)
