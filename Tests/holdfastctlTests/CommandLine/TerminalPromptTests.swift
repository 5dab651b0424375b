import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite(
    "The password prompt on a terminal", .needs(.python),
    .timeLimit(.minutes(15)))
struct TerminalPromptTests {
    /// Runs the command in a session of its own on a new terminal, as a shell does, with the program as the job in the
    /// foreground. Says in one line each what it saw.
    private static let shell = """
        import fcntl, os, pty, select, signal, struct, sys, termios, time
        what, program, arguments = sys.argv[1], sys.argv[2], sys.argv[2:]
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGTSTP, signal.SIGCONT):
            signal.signal(number, signal.SIG_DFL)
        master, slave = pty.openpty()
        limit = time.monotonic() + 60
        def echo(): return bool(termios.tcgetattr(slave)[3] & termios.ECHO)
        heard = b""
        def hear(word):
            global heard
            while word not in heard:
                if time.monotonic() > limit: sys.exit("never heard " + repr(word) + " in " + repr(heard))
                if select.select([master], [], [], 0.1)[0]: heard += os.read(master, 4096)
            heard = heard[heard.index(word) + len(word):]
        def until(condition, name):
            while not condition():
                if time.monotonic() > limit: sys.exit("never " + name)
                time.sleep(0.01)
        read, write = os.pipe()
        shell = os.fork()
        if shell == 0:
            # The leader of the session, which job control needs a parent in; it tells how its job changes.
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            job = os.fork()
            if job == 0:
                os.setpgid(0, 0)
                os.tcsetpgrp(slave, os.getpid())
                signal.signal(signal.SIGTTOU, signal.SIG_DFL)
                for number in (0, 1, 2): os.dup2(slave, number)
                os.execv(program, arguments)
            os.write(write, struct.pack("ii", 0, job))
            while True:
                _, status = os.waitpid(job, os.WUNTRACED | os.WCONTINUED)
                os.write(write, struct.pack("ii", 1, status))
                if os.WIFEXITED(status) or os.WIFSIGNALED(status): os._exit(0)
        def change():
            if not select.select([read], [], [], 60)[0]: sys.exit("nothing happened")
            return struct.unpack("ii", os.read(read, 8))[1]
        job = change()
        hear(b"Password of")
        until(lambda: not echo(), "silent")
        # What is asked for may be asked before the program waits for the answer.
        if what == "stop":
            for _ in range(2):
                os.write(master, b"half\\x1a")
                if not os.WIFSTOPPED(change()): sys.exit("not stopped")
                print("stopped, echo", echo())
                os.kill(job, signal.SIGCONT)
                if not os.WIFCONTINUED(change()): sys.exit("not continued")
                hear(b"Password of")
                until(lambda: not echo(), "silent again")
            os.write(master, b"secret\\n")
            hear(b"Once more")
            os.write(master, b"secret\\n")
        elif what.startswith("type "):
            os.write(master, bytes([int(what[5:])]))
        elif what == "once more":
            os.write(master, b"secret\\n")
            hear(b"Once more")
            until(lambda: not echo(), "silent again")
            os.write(master, b"\\x03")
        else:
            os.kill(job, int(what))
        status = change()
        print("signal", os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0, "status",
            os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1, "echo", echo(), "shown", b"secret" in heard)
        """

    private func prompt(_ what: String, in folder: URL) async throws -> [String] {
        let python = try #require(ForeignPeers.python)
        let program = try #require(CommandRun.program)
        let run = try await CommandRun.run(
            python, ["-c", Self.shell, what, program.path, "keygen", "-o", "new.pem"], in: folder)
        #expect(run.status == 0, "\(what): \(run.output)\(run.errors)")
        return run.lines.map(String.init)
    }

    @Test(
        "A key or a signal that ends programs ends the prompt with that signal, and the echo is on again",
        arguments: [
            ("type 3", SIGINT), ("type 28", SIGQUIT), ("\(SIGINT)", SIGINT), ("\(SIGTERM)", SIGTERM),
            ("\(SIGQUIT)", SIGQUIT), ("\(SIGHUP)", SIGHUP), ("once more", SIGINT),
        ])
    func ending(what: String, number: Int32) async throws {
        try await withTemporaryFolder { folder in
            let seen = try await prompt(what, in: folder)
            #expect(seen == ["signal \(number) status -1 echo True shown False"])
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "new.pem").path))
        }
    }

    @Test("Ctrl-Z stops the prompt with the echo on; continued, it asks again")
    func stopping() async throws {
        try await withTemporaryFolder { folder in
            let seen = try await prompt("stop", in: folder)
            #expect(
                seen == ["stopped, echo True", "stopped, echo True", "signal 0 status 0 echo True shown False"])
            #expect(FileManager.default.fileExists(atPath: folder.appending(path: "new.pem").path))
        }
    }
}
