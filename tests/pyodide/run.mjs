// Runs a Python program under Pyodide in Node: node run.mjs TASK.json
//
// The task: {"mounts": {"/where": "folder here"}, "wheels": ["path"], "program": "…"}. What the program prints is printed;
// the exit status is that of its `sys.exit`.
import {readFileSync} from "node:fs";
import {pathToFileURL} from "node:url";
import {loadPyodide} from "pyodide";

const task = JSON.parse(readFileSync(process.argv[2], "utf-8"));
const write = stream => ({write: bytes => (stream.write(bytes), bytes.length)});
const python = await loadPyodide();
python.setStdout(write(process.stdout));
python.setStderr(write(process.stderr));
for (const [at, folder] of Object.entries(task.mounts)) python.mountNodeFS(at, folder);
await python.loadPackage(task.wheels.map(path => pathToFileURL(path).href), {messageCallback() {}});
python.globals.set("_program", task.program);
const status = python.runPython(`
def _run():
    try:
        exec(compile(_program, "task", "exec"), {"__name__": "__main__"})
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0
_run()
`);
process.exitCode = status; // what was written is not all out yet
