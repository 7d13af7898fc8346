"""A program that breaks the protocol in the way that its argument names."""
import json, os, subprocess, sys, time

way = sys.argv[1]
asked = 0


def say(document):
    print(json.dumps(document), flush=True)


if way == "silent":
    time.sleep(600)
if way == "long-name":
    say({"hello": {"protocol": 1, "name": "n" * (1 << 19)}})
if way == "wrong-version":
    say({"hello": {"protocol": 2, "name": way}})
if way == "dies-at-once":
    sys.exit("no licence")
for line in sys.stdin:
    message = json.loads(line)
    if "hello" in message:
        say({"hello": {"protocol": 1, "name": way, "colour": "blue", "capabilities": ["groups"]}})
        if way == "deaf":
            # Answer requests without reading them.
            for number in range(1, 1000):
                say({"done": {"id": f"r{number}", "status": "unknown"}})
            time.sleep(600)
    if "solve" not in message:
        continue
    asked += 1
    ask = message["solve"]
    nothing = [0] * len(ask["problem"]["tasks"])
    done = {"id": ask["id"], "status": "feasible", "counts": nothing}
    if way == "garbage":
        print("thinking ...", flush=True)
        print(b"\xff\xfe{".decode("latin1"), flush=True)
    if way == "long-line":
        print("x" * (5 << 20), flush=True)
    if way == "wrong-status":
        say({"done": {**done, "status": "excellent"}})
    if way == "too-many":
        done["counts"] = [10**9] * len(nothing)
    if way == "wrong-length":
        done["counts"] = nothing + [0]
    if way == "claims":
        done["status"] = "optimal"
    if way == "no-counts":
        done = {"id": ask["id"], "status": "optimal"}
    if way == "other-id":
        say({"done": {**done, "id": "r0"}})
        continue
    if way == "hangs":
        time.sleep(600)
    if way == "floods-others":
        other = {"done": {"id": "other", "status": "feasible", "counts": [0] * (1 << 18)}}
        while True:
            say(other)
    if way == "family":
        # Three children: one in the program's process group, and two in sessions of their own. The last child lacks the
        # environment variable that identifies the program.
        ways = [{}, {"start_new_session": True}, {"start_new_session": True, "env": {"PATH": os.environ["PATH"]}}]
        children = [subprocess.Popen(["sleep", "600"], **way) for way in ways]
        with open(sys.argv[2] + ".part", "w") as file:
            print(*[child.pid for child in children], os.getpid(), file=file)
        os.rename(sys.argv[2] + ".part", sys.argv[2])
        while True:
            pass
    if way == "infeasible":
        done = {"id": ask["id"], "status": "infeasible"}
    if way == "long-status":
        done["status"] = "s" * (1 << 19)
    if way == "ignores-signals":
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
    if way == "incumbent-then-hangs":
        say({"incumbent": {"id": ask["id"], "counts": nothing}})
        time.sleep(600)
    if way == "third" and asked == 3:
        os.abort()
    if way == "every":
        sys.exit("out of tokens")
    if way == "forks":
        subprocess.Popen(["sleep", "600"])
        subprocess.Popen(["sleep", "600"], start_new_session=True)
    if way == "errors":
        block = b"e" * (1 << 20)
        for _ in range(1024):
            sys.stderr.buffer.write(block)
    if way == "floods":
        while True:
            print(json.dumps({"incumbent": {"id": ask["id"], "counts": nothing}}))
    if way == "refuses":
        done = {"id": ask["id"], "status": "refused", "message": "not today"}
    if way == "closes":
        os.close(1)
        time.sleep(600)
    say({"done": done})
