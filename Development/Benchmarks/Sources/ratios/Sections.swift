import Foundation
import Workloads

/// The measurements, and the compared figures. The targets are those of the design.
struct Sections {
    var report = Report()
    /// The versions of the libraries that Holdfast is compared with.
    var versions: [String] = []
    /// The time of a measurement, long enough for a stable median on an idle machine.
    let time: Duration
    let folder: URL

    mutating func pins() async throws {
        report.section("Pin check")
        let chain = try ChainMaterial.p256()
        let found = try await Measurement.run(
            [try PinWorkloads.bareHashes(chain), try PinWorkloads.check(chain)], for: time)
        report.compare(found[1], with: found[0], target: 3)
    }

    mutating func outlook() async throws {
        report.section("Outlook of a publication")
        let workloads = try OutlookWorkloads(hosts: 1_000)
        let found = try await Measurement.run([workloads.bareEvaluations, workloads.outlook], for: time)
        report.compare(found[1], with: found[0])
        report.state(found[1], below: 1_000_000_000)
    }

    mutating func validation() async throws {
        for chain in [try ChainMaterial.p256(), try ChainMaterial.p384(), try ChainMaterial.rsa2048()] {
            report.section("Standard validation, \(chain.name)")
            let python = try PythonVerifier(chain, in: folder)
            defer { python?.end() }
            let found = try await Measurement.run(
                [
                    try ValidationWorkloads.bareSignatures(chain),
                    try ValidationWorkloads.bareSignaturesWithReadKeys(chain),
                    try ForeignVerifiers.openSSL(chain), try ForeignVerifiers.swiftCertificates(chain),
                    ValidationWorkloads.cold(chain), ValidationWorkloads.warm(chain),
                ] + [python?.workload].compactMap(\.self), for: time * 3)
            let cold = found[4]
            report.compare(cold, with: found[0], target: 1.2)
            report.compare(cold, with: found[1])
            report.compare(cold, with: found[2], target: 1, strictly: true)
            report.compare(cold, with: found[3])
            if found.count > 6 { report.compare(cold, with: found[6]) }
            report.state(found[5], below: 5_000)
            if let version = python?.version, !versions.contains(version) {
                versions += [version, "swift-certificates 1.21.1", ForeignVerifiers.openSSLVersion]
            }
        }
    }

    mutating func refusals() async throws {
        report.section("Refusals")
        let hostile = try RefusedMaterial.hostile()
        let found = try await Measurement.run(
            [
                ValidationWorkloads.refusal("wrong name", try .wrongName(names: 2)),
                ValidationWorkloads.refusal("wrong name, 137 names in the leaf", try .wrongName(names: 137)),
                ValidationWorkloads.refusal("expired leaf", try .expired()),
            ], for: time)
        for one in found { report.state(one, below: 20_000) }
        let slow = try await Measurement.run(
            [
                ValidationWorkloads.refusal("hostile chain of 48 certificates", hostile),
                try ForeignVerifiers.openSSL(refusing: hostile),
            ], for: time)
        report.compare(slow[0], with: slow[1])
    }

    mutating func hostile() async throws {
        report.section("The most expensive chains of 100 kB that the campaign finds, by field")
        let workloads =
            try HostileWorkloads.dearest() + HostileWorkloads.shortNames() + HostileWorkloads.dearestForComposites()
        let found = try await Measurement.run(workloads, for: time)
        for one in found { report.state(one, below: 15_000_000) }
    }

    mutating func policies() async throws {
        report.section("Finding a policy")
        let found = try await Measurement.run(
            try [10, 1_000, 100_000].map { try PolicyWorkloads.lookup(hosts: $0) }, for: time)
        for one in found.dropFirst() { report.compare(one, with: found[0]) }
    }

    mutating func handshakes() async throws {
        for chain in [try ChainMaterial.p256(), try ChainMaterial.rsa2048()] {
            report.section("NIOSSL handshakes, both ends on one thread, \(chain.name)")
            let handshakes = try HandshakeWorkloads(chain)
            let found = try await Measurement.run(
                [
                    handshakes.withBoringSSL(), handshakes.withoutVerification(),
                    try handshakes.withHoldfast(cached: false), try handshakes.withHoldfast(cached: true),
                    try handshakes.withHoldfastPins(cached: false), try handshakes.withHoldfastPins(cached: true),
                    try handshakes.withBareSignatures(),
                ], for: time * 4)
            report.compare(found[1], with: found[0])
            report.compare(found[6], with: found[0])
            report.compare(found[2], with: found[0], target: 1.03)
            report.compare(found[3], with: found[0], target: 1, strictly: true)
            report.compare(found[4], with: found[0], target: 1.03)
            report.compare(found[5], with: found[0], target: 1, strictly: true)
        }
    }

    mutating func requests() async throws {
        report.section("HTTPS requests on the loopback address")
        let requests = try await RequestWorkloads()
        let found = try await Measurement.run(
            [
                requests.withAsyncHTTPClient(newConnection: true), requests.withPinnedHTTPClient(newConnection: true),
                requests.withAsyncHTTPClient(newConnection: false), requests.withPinnedHTTPClient(newConnection: false),
            ], for: time * 4)
        report.compare(found[1], with: found[0])
        report.compare(found[3], with: found[2])
        try await requests.shutdown()
    }

    mutating func stores() async throws {
        report.section("Stores of pins")
        let found = try await Measurement.run(
            try [10, 1_000, 100_000, 1_000_000].map { try StoreWorkloads.lookup(entries: $0) }, for: time * 2)
        report.compare(found[1], with: found[0])
        report.compare(found[2], with: found[0])
        report.compare(found[3], with: found[0], target: 4)
    }

    mutating func memory() throws {
        report.section("Memory of a store")
        let entries = 1_000_000
        let bytes = try StoreMemory.measureInChildren(entries: entries, in: folder.appending(path: "memory"))
        let each = Double(bytes) / Double(entries)
        report.state(
            "memory of \(entries.formatted()) entries, growth of the process", String(format: "%.0f B an entry", each),
            target: "≤ 200 B", isMet: each <= 200)
    }

    mutating func revocation() async throws {
        report.section("Revocation lists")
        let entries = 1_000_000
        let list = try RevocationListWorkloads(entries: entries)
        let found = try await Measurement.run(
            [list.reading(), list.openSSLReading(), try list.lookup(), try list.openSSLLookup()], for: time * 2)
        report.compare(found[0], with: found[1])
        report.compare(found[2], with: found[3])
        report.state(found[2], below: 1_000)
        let hostile = try RevocationListWorkloads.refusal(entries: 1_700_000)
        let refused = try await Measurement.run([hostile.workload], for: time)
        let name = "\(hostile.workload.name), \(hostile.byteCount >> 20) MiB"
        report.state(refused[0], name: name, below: 1_000_000_000)
        guard let bytes = Int(try ChildProcess.output(["read-crl", "\(entries)", folder.path])) else {
            throw WorkloadError("no figure for the memory of a revocation list")
        }
        let each = Double(bytes) / Double(entries)
        report.state(
            "memory of \(entries.formatted()) entries beside the DER, growth of the process",
            String(format: "%.0f B an entry", each), target: "≤ 40 B", isMet: each <= 40)
    }

    mutating func lists() async throws {
        report.section("Signed lists")
        let list = try StoreWorkloads.SignedList(entries: 10_000)
        let workloads = [
            try list.bareVerifications(), try list.verification(), try await list.coldStart(in: folder),
        ]
        let found = try await Measurement.run(workloads, for: time * 3)
        report.compare(found[1], with: found[0])
        report.compare(found[2], with: found[0])
        guard let ratio = Double(try ChildProcess.output(["list-ratio"], onOneCore: true)) else {
            throw WorkloadError("no ratio from the process with one core")
        }
        report.state(found[1].name + ", one core for all", ratio: ratio, to: found[0].name, target: 1.1)
    }

    /// The ratio of the list to bare verifications in this process, which `lists` gives one core.
    static func listRatio(for time: Duration) async throws -> Double {
        let list = try StoreWorkloads.SignedList(entries: 10_000)
        // Several threads take turns on the one core, so that the processor time is the elapsed time.
        let verification = Workload("list", clock: .processor, repeating: try list.verification().run)
        let found = try await Measurement.run([try list.bareVerifications(), verification], for: time)
        return found[1].ratio(to: found[0])
    }
}
