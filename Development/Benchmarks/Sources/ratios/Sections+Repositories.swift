import Foundation
import Workloads

/// The measurements of repositories of pins.
extension Sections {
    mutating func repositories() async throws {
        report.section("Refreshing a repository's metadata, HTTP on the loopback address")
        // A disk's speed must not be measured: Holdfast waits until every file is on the disk.
        let memory = Self.memory.appending(path: "holdfast-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: memory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: memory) }
        let served = folder.appending(path: "refreshes")
        let refreshes = try await RepositoryRefreshes(in: served, keepingIn: memory)
        defer { refreshes.shutdown() }
        let python = try pythonTUF()
        defer { python?.end() }
        for (index, refresh) in refreshes.refreshes.enumerated() {
            let own = memory.appending(path: "holdfast-\(index)")
            let others = memory.appending(path: "python-\(index)")
            var workloads = [try refreshes.holdfast(refresh, keepingIn: own)]
            if let python {
                workloads.append(
                    try refresh.workload("python-tuf", keepingIn: others) { times in
                        try python.run("\(times) \(others.path) \(refresh.url.absoluteString)")
                    })
            }
            let found = try await Measurement.run(workloads, for: time * 3)
            try refresh.requireDone(in: own)
            if found.count > 1 {
                try refresh.requireDone(in: others)
                report.compare(found[0], with: found[1])
            } else {
                report.state(found[0])
            }
        }
        if let python { versions.append(python.version) }

        report.section("Bytes that an app downloads from a repository")
        for hosts in [10, 1_000] {
            for one in try await RepositoryTraffic.measure(hosts: hosts, in: folder.appending(path: "of-\(hosts)")) {
                report.compare(
                    "\(one.name), bundle.json", Self.text(one.bundle), with: "files: \(Self.text(one.files))",
                    ratio: Double(one.bundle.bytes) / Double(one.files.bytes))
            }
        }
    }

    mutating func caches() async throws {
        report.section("1,000 apps behind nginx as a cache")
        for way in RepositoryDevice.Way.allCases {
            let rounds = try await CachedRepository.measure(
                way, devices: 1_000, in: folder.appending(path: "cache-\(way)"))
            for round in rounds {
                report.compare(
                    "\(way.rawValue), \(round.name)", "\(round.atOrigin.formatted()) at the origin",
                    with: "\(round.requests.formatted()) requests of apps",
                    ratio: Double(round.atOrigin) / Double(round.requests))
            }
        }
    }

    private static var memory: URL {
        FileManager.default.fileExists(atPath: "/dev/shm")
            ? URL(filePath: "/dev/shm") : FileManager.default.temporaryDirectory
    }

    /// The Python that `scripts/python tuf` installs, or the one that the environment names.
    private func pythonTUF() throws -> PythonProcess? {
        let script = folder.appending(path: "tuf_refresher.py")
        try Data(PackageResources.tuf_refresher_py).write(to: script)
        let python = ProcessInfo.processInfo.environment["HOLDFAST_TUF_PYTHON"] ?? ".build-tuf/bin/python"
        return try PythonProcess(script, python: python)
    }

    private static func text(_ traffic: RepositoryDevice.Traffic) -> String {
        "\(traffic.bytes.formatted()) B in \(traffic.requests) \(traffic.requests == 1 ? "request" : "requests")"
    }
}
