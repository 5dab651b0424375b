import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting

/// The outlook of a publication, and the bare evaluations of policies that are its minimum.
public struct OutlookWorkloads: Sendable {
    private let inputs: PublicationOutlook.Inputs
    private let questions: [(policy: PinnedPolicy, trust: ServerTrust)]

    /// Four pin files, of three app versions and one that was replaced, that cover this number of hosts.
    public init(hosts count: Int) throws {
        let now = Date(timeIntervalSince1970: SystemWallClock().now.timeIntervalSince1970.rounded(.down))
        let root = try TestAuthority.root(name: "Benchmark Root")
        let issuing = try root.intermediate(name: "Benchmark Issuing CA", pathLength: 0)
        let names = (0..<count).map { "host-\($0).example.com" }
        let leaves = try names.map { try issuing.leaf(names: [.dns($0)]) { $0.notAfter = .days(400) } }
        let backup = try issuing.leaf(names: ["backup.example.com"])
        let backupPin = try Pin.publicKey(of: backup.der).description
        let hosts = try zip(names, leaves).map { name, leaf in
            PinFileText.host(
                name, [(try Pin.publicKey(of: leaf.der).description, "active"), (backupPin, "backup")])
        }
        let published = (0..<4).map { now.addingTimeInterval(Double(-$0) * 86_400) }
        let documents = published.map { PinFileText.file(hosts, at: $0) }
        let files = try documents.map { try PinFile(json: $0) }
        let versions = ["1", "2", "3"]
        inputs = PublicationOutlook.Inputs(
            documents: documents.enumerated().map { index, octets in
                .init(
                    "pins \(index)", kind: .shippedPins, octets: octets, published: published[index],
                    appVersions: index < versions.count ? [versions[index]] : versions)
            },
            hosts: zip(names, leaves).map { name, leaf in
                .init(name, port: 443, shown: [.init(leaf.chain.map { Data($0) }, at: "192.0.2.1", seen: now)])
            },
            platforms: [.init("benchmark", anchors: [Data(root.root)])],
            appVersions: .versions(versions.map { .init($0) }), now: now)
        let anchors = try TrustAnchors(der: [root.root])
        let cache = VerifiedPathCache(capacity: count)
        questions = try zip(names, leaves).flatMap { name, leaf in
            let host = try DialedHost(name, port: 443)
            let trust = ServerTrust(
                chain: PresentedChain(leaf.chain), purpose: .server(identity: host),
                validator: PathValidator(anchors: anchors, cache: cache))
            return files.map { (PinnedPolicy(scope: .hosts(HostPattern(host)), source: $0), trust) }
        }
    }

    /// One evaluation of each client's policy for each host, with a full cache of paths.
    public var bareEvaluations: Workload {
        let (questions, now) = (questions, inputs.now)
        return Workload("one evaluation of each policy, paths in the cache") {
            for question in questions {
                try require(question.policy.evaluate(question.trust, at: now).isTrusted, "a refusal")
            }
        }
    }

    /// From the inputs to the verdict, with nothing remembered.
    public var outlook: Workload {
        let inputs = inputs
        return Workload("outlook: \(inputs.hosts.count) hosts, \(inputs.documents.count) documents, 3 app versions") {
            try require(try PublicationOutlook(judging: inputs).verdict == .in, "a verdict that is not in")
        }
    }
}
