import AsyncHTTPClient
import Foundation
import Holdfast
import HoldfastAsyncHTTPClient
import HoldfastMetrics
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastProbe
import HoldfastPublishing
import HoldfastReports
import HoldfastReportsAsyncHTTPClient
import HoldfastSigning
import HoldfastTUF
import HoldfastTesting
import NIOCore
import NIOPosix
import NIOSSL

// The examples of the DocC catalogs, line by line: scripts/check docs has them type-checked, and compares.

func holdfast(
    keyInUse: String, keyKeptOffline: String, chain: [[UInt8]], anchors: TrustAnchors,
    log: @escaping @Sendable (String) -> Void
) throws -> TrustDecision {
    let pins = try PinSet(pins: [Pin(keyInUse)], backups: [Pin(keyKeptOffline)])
    let manager = TrustManager(policies: [
        try PinnedPolicy(host: HostPattern("**.example.com"), pins: pins),
        StandardPolicy(host: try HostPattern("cdn.example.net")),
    ])
    let host = try DialedHost("api.example.com")
    let decision = manager.evaluate(ServerTrust(certificates: chain, host: host, anchors: anchors))
    if let failure = decision.failure { log(failure.description) }
    manager.addObserver { decision in
        if let failure = decision.failure { log(failure.description) }
    }
    return decision
}

func store(_ manager: TrustManager, url: URL, publicKey: String) async throws {
    let configuration = CertStoreConfiguration(serviceURL: url, publicKey: publicKey, useChallenge: true)
    let store = try await CertStore.load(configuration: configuration)
    manager.add(policy: try store.policy(for: "www.example.com"))
    try await store.update()
}

func alertOfFailures(of stores: [any UpdatingStore]) {
    for store in stores {
        store.addObserver { event in
            guard let report = event.report, let error = report.error else { return }
            print("\(event.store): \(error). Next attempt: \(report.nextUpdate)")
        }
    }
}

func revocation(anchors: TrustAnchors, issuing: X509Certificate, listURL: URL) async throws -> PathValidator {
    let store = try await RevocationStore.load(configuration: RevocationConfiguration())
    let validator = PathValidator(anchors: anchors, revocation: store, cache: VerifiedPathCache())
    var configuration = RevocationConfiguration(authorities: [.init(certificate: issuing, urls: [listURL])])
    configuration.unknownLeaf = .fails
    let strict = try await RevocationStore.load(configuration: configuration)
    try await strict.prepare()
    async let updates: Void = strict.run()
    try await updates
    return validator
}

func metrics(_ manager: TrustManager, _ store: CertStore) {
    let metrics = TrustMetrics()
    metrics.count(manager)
    metrics.count(store)
}

func report(_ manager: TrustManager, to collector: URL) throws {
    try TrustReporter(ReportConfiguration(destinations: [collector], application: "com.example.bank", version: "5.1"))
        .observe(manager)
}

func report(_ manager: TrustManager, to collector: URL, trusting anchors: TrustAnchors) throws {
    var configuration = ReportConfiguration(destinations: [collector], application: "worker", version: "2")
    configuration.sender = AsyncHTTPClientReportSender(validator: PathValidator(anchors: anchors))
    try TrustReporter(configuration).observe(manager)
}

/// A crash reporter.
private nonisolated func recordError(_ error: TrustFailure, _ body: Data) {}

func tellCrashReporter(about manager: TrustManager) throws {
    var configuration = ReportConfiguration(destinations: [], application: "com.example.bank", version: "5.1")
    configuration.onReport = { report in recordError(report.failure, report.body(as: .pinValidation)) }
    try TrustReporter(configuration).observe(manager)
}

func transparency(
    json: Data, signature: Data, listKey: SubjectPublicKeyInfo, anchors: TrustAnchors, ownAuthorities: TrustAnchors
) throws -> PathValidator {
    let list = try TransparencyLogList(verifying: json, signature: signature, key: listKey)
    let validator = PathValidator(
        anchors: anchors, transparency: .required(list, exempting: ownAuthorities))
    return validator
}

func renewedTransparency(
    list: TransparencyLogList, listURL: URL, signatureURL: URL, listKey: SubjectPublicKeyInfo, anchors: TrustAnchors
) async throws -> PathValidator {
    let configuration = TransparencyLogConfiguration(
        listURL: listURL, signatureURL: signatureURL, key: listKey, shipped: list)
    let store = try await TransparencyLogStore.load(configuration: configuration)
    let renewing = PathValidator(anchors: anchors, transparency: .required(store))
    return renewing
}

func nio(_ manager: TrustManager) async throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
    let host = try DialedHost("api.example.com", port: 443)
    let validator = PathValidator(anchors: try await TrustAnchors.system(), cache: VerifiedPathCache())
    let client = try PinnedTLSClient(trust: .manager(manager), host: host, validator: validator)
    let bootstrap = ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
    let connection = try await bootstrap.connect(to: client) { channel in
        try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
    }
    return connection
}

func nioServer(pins: PinSet, configuration: TLSConfiguration, validator: PathValidator) throws -> PinnedTLSServer {
    let policy = try PinnedPolicy(clients: "devices", pins: pins)
    let server = try PinnedTLSServer(clients: policy, configuration: configuration, validator: validator)
    return server
}

func http(_ manager: TrustManager) async throws -> HTTPClientResponse {
    let validator = PathValidator(anchors: try await TrustAnchors.system(), cache: VerifiedPathCache())
    let client = try PinnedHTTPClient(manager: manager, validator: validator)
    let response = try await client.execute(HTTPClientRequest(url: "https://api.example.com/"), timeout: .seconds(30))
    try await client.shutdown()
    return response
}

func status(of url: String, by executor: any HTTPRequestExecutor) async throws -> UInt {
    let request = HTTPClientRequest(url: url)
    return try await executor.execute(request, deadline: .now() + .seconds(30), logger: nil).status.code
}

func signing(password: [UInt8], certificate: [UInt8], until end: Date) throws -> (String, String, Data) {
    let key = SigningKey()
    let file = try key.pem(password: password)
    let publicKey = try key.publicKey.base64
    var draft = PinListDraft()
    draft.add(try FingerprintEntry(name: "www.example.com", pin: .certificate(certificate), until: end))
    let list = try draft.signed(by: key)
    return (file, publicKey, list)
}

func testing(_ clock: ManualClock) throws -> [Bool] {
    let root = try TestAuthority.root()
    let leaf = try root.leaf(names: ["api.example.com"])
    let pins = try PinSet(pins: [Pin.publicKey(of: leaf.der)])
    let policy = try PinnedPolicy(host: HostPattern("api.example.com"), pins: pins)
    let anchors = try TrustAnchors(der: [root.root])
    let host = try DialedHost("api.example.com")

    let genuine = ServerTrust(certificates: leaf.chain, host: host, anchors: anchors)
    let impostor = ServerTrust(certificates: try root.impersonate(leaf).chain, host: host, anchors: anchors)
    let verdicts = [genuine, impostor].map { policy.evaluate($0, at: clock.now).isTrusted }
    return verdicts
}

func nioTesting() async throws -> (Int, Int) {
    let root = try TestAuthority.root()
    let server = try await LoopbackTLSServer.start(serving: root.leaf(names: ["localhost"]))
    let port = server.port
    let received = server.statistics.plaintextBytesReceived
    await server.shutdown()
    return (port, received)
}

func probing(_ policy: any TrustPolicy, report: (PeerAddress?, any Sendable) -> Void) async throws {
    var probe = HostProbe(validator: PathValidator(anchors: try await TrustAnchors.system()))
    probe.deadlines.whole = .seconds(20)
    let findings = await probe.ask(try DialedHost("www.example.com"), policy: policy)
    for sighting in findings.sightings {
        switch sighting.result {
        case .success(let shown): report(sighting.address, shown.decision)
        case .failure(let failure): report(sighting.address, failure)
        }
    }
    probe.filter = AddressFilter()
}

func repository(
    offline: TUFSigningKey, online: TUFSigningKey, pinFile: Data, url: URL, now: Date,
    upload: (URL, TUFUploadPlan.Object) async throws -> Void
) async throws {
    var state = try TUFRepositoryState(
        roles: [
            .root: TUFRoleKeys([offline.publicKey]), .targets: TUFRoleKeys([offline.publicKey]),
            .snapshot: TUFRoleKeys([online.publicKey]), .timestamp: TUFRoleKeys([online.publicKey]),
        ], at: now)
    try state.prepare(pins: pinFile, at: now)
    _ = try state.sign(by: offline)
    let folder = TUFRepositoryFolder(url)
    try await folder.writeDrafts(state)
    let publication = try await TUFPublication.make(of: folder.state(), in: folder, onlineKeys: [online], at: now)
    try await folder.write(publication)
    for object in try await folder.uploadPlan(at: now).objects {
        try await upload(folder.published.appending(path: object.path), object)
    }
}

func shippedBundle(
    _ manager: TrustManager, bundleURL: URL, root: Data, bundleOfThisBuild: Data
) async throws {
    let floor = PinFloor(covering: [try HostPattern("api.example.com")])
    var configuration = PinRepositoryConfiguration(source: .bundle(bundleURL), root: root, floor: floor)
    configuration.shipped = .init(bundle: bundleOfThisBuild, grace: .seconds(2 * 365 * 86_400))
    let repository = try await PinRepository.load(configuration: configuration)
    manager.add(policy: try repository.policy(for: "api.example.com"))
}
