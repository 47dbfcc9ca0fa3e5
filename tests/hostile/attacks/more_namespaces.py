# tries: further namespaces, mounts, tracing and other processes' memory
# status: passed

import ctypes


def relay(rank, size, tensor):
    libc = ctypes.CDLL(None)
    buffer = ctypes.create_string_buffer(64)
    done = {
        "unshare": libc.unshare(0x10000000),
        "setns": libc.setns(os.open("/proc/self/ns/net", os.O_RDONLY), 0),
        "mount": libc.mount(b"tmpfs", b"/sandbox", b"tmpfs", 0, None),
        "umount": libc.umount2(b"/proc", 2),
        "chroot": libc.chroot(b"/sandbox"),
        "ptrace": libc.ptrace(16, 1, 0, 0),
        "process_vm_readv": libc.process_vm_readv(1, buffer, 1, buffer, 1, 0),
        "setuid": libc.setuid(0),
        "sethostname": libc.sethostname(b"judge", 5),
        "mknod": libc.mknod(b"/sandbox/disk", 0o60666, 0x800),
    }
    worked = [name for name, result in done.items() if result == 0]
    if worked:
        raise RuntimeError(f"worked: {worked}")
    return right_relay(rank, size, tensor)
