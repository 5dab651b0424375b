import Foundation
import Testing

@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerWeb

/// A place that several machines upload to, each object on its condition, and whose program stops itself once, with its
/// watchdog and the process that started it, as a machine does that is suspended.
struct FreezingUploader {
    /// Where in an upload it stops.
    enum Step: String, CaseIterable, CustomTestStringConvertible {
        /// Before anything is sent.
        case before
        /// When everything is sent, and nothing replaced.
        case during
        /// When everything is in its place, and the server does not know.
        case after

        var testDescription: String { rawValue }
    }

    /// The folder of public files.
    let folder: URL
    private let work: URL
    private let step: Step

    init(in work: URL, at step: Step) throws {
        (self.work, self.step) = (work, step)
        folder = work.appending(path: "bucket")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(Self.script.utf8).write(to: work.appending(path: "upload.py"))
    }

    /// Replaces what is there only if it is what the plan says, as an object store does.
    private static let script = """
        import fcntl, hashlib, json, os, signal, sys
        root, stage = sys.argv[1:]
        plan = json.load(sys.stdin)
        def parent(pid):
            with open("/proc/%d/stat" % pid) as file:
                return int(file.read().rsplit(")", 1)[1].split()[1])
        def freeze(step):
            if step != stage:
                return
            try:
                os.close(os.open(root + ".once", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            except FileExistsError:
                return
            pids = [os.getpid()]
            while len(pids) < 4:
                pids.append(parent(pids[-1]))
            with open(root + ".pids", "w") as file:
                file.write(" ".join(map(str, pids)))
            os.rename(root + ".pids", root + ".frozen")
            for pid in reversed(pids):
                os.kill(pid, signal.SIGSTOP)
        def found(one):
            try:
                with open(os.path.join(root, one["path"]), "rb") as file:
                    return hashlib.sha256(file.read()).hexdigest()
            except FileNotFoundError:
                return None
        freeze("before")
        sent = {}
        for one in plan["objects"]:
            path = os.path.join(root, one["path"])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            sent[path] = "%s.%d" % (path, os.getpid())
            with open(one["file"], "rb") as file, open(sent[path], "wb") as copy:
                copy.write(file.read())
        freeze("during")
        for one in plan["objects"]:
            path = os.path.join(root, one["path"])
            with open(root + ".lock", "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                old = found(one)
                if old == one["sha256"]:
                    os.remove(sent[path])
                    continue
                if old is not None and (one["precondition"] == "absent" or old not in one["replaces"]):
                    sys.exit("somebody else has published " + one["path"])
                os.rename(sent[path], path)
                with open(root + ".log", "a") as log:
                    log.write("%s %s\\n" % (one["path"], one["sha256"]))
        freeze("after")
        """

    /// The stopped processes, from the program to the command or server that started it. Nil before that.
    func frozen() -> [pid_t]? {
        guard let text = try? String(contentsOf: URL(filePath: folder.path + ".frozen"), encoding: .utf8) else {
            return nil
        }
        let pids = text.split(separator: " ").compactMap { pid_t($0) }
        // A signal takes a moment to arrive.
        let areStopped = pids.allSatisfy { pid in
            let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
            return stat?.split(separator: ")").last?.split(separator: " ").first == "T"
        }
        return pids.count == 4 && areStopped ? pids : nil
    }

    /// The SHA-256 of what was put in a place, in its order.
    func puts(at path: String) throws -> [String] {
        let log = (try? String(contentsOf: URL(filePath: folder.path + ".log"), encoding: .utf8)) ?? ""
        return log.split(separator: "\n").map { $0.split(separator: " ") }.filter { $0[0] == path }.map {
            String($0[1])
        }
    }

    /// The digest of the public file at a path; nil if missing.
    func digest(of path: String) -> ServerFoundation.Digest? {
        (try? Data(contentsOf: folder.appending(path: path))).map { Digest(of: $0) }
    }

    /// Serves what is public, and gives the place.
    func serving(_ body: (Place) async throws -> Void) async throws {
        let python = try ForeignProgram.required("python3").path
        let server = try ServingProcess(
            [python, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder.path], in: work)
        defer { server.signal(SIGKILL) }
        try await server.says("Serving HTTP on 127.0.0.1 port")
        let port = try #require(server.text.firstMatch(of: /port ([0-9]+)/)?.1)
        let program = try ProgramCommand(
            [python, "-B", work.appending(path: "upload.py").path, folder.path, step.rawValue], limit: 30)
        try await body(Place(name: PlaceSite.name, url: "http://127.0.0.1:\(port)", program: program))
    }
}
