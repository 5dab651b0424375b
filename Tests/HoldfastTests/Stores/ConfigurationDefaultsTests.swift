import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// The documented defaults: a test here fails if one changes.
@Suite("Defaults of configurations")
struct ConfigurationDefaultsTests {
    private let url = URL(filePath: "/pins")

    private func expectUsual(_ provider: any RemoteDataProvider, _ location: SourceLocation = #_sourceLocation) {
        let usual = provider as? URLSessionDataProvider
        #expect(usual?.answerLimit == .seconds(15) && usual?.wholeLimit == .seconds(60), sourceLocation: location)
        #expect(usual?.allowsPlainHTTPToLoopback == false, sourceLocation: location)
    }

    private func expectUsual(
        _ storage: any SecureDataStore, bytes: Int = 67_108_864, _ location: SourceLocation = #_sourceLocation
    ) {
        let usual = storage as? FileDataStore
        #expect(usual?.folder == FileDataStore.defaultFolder && usual?.maximumBytes == bytes, sourceLocation: location)
    }

    @Test("A store of fingerprints is configured with a URL and a key, and is strict about all else")
    func certStore() {
        let configuration = CertStoreConfiguration(serviceURL: url, publicKey: "key")
        #expect(configuration.serviceURL == url && configuration.publicKey == "key" && !configuration.useChallenge)
        #expect(configuration.expectedCommonNames == nil && configuration.identifier == nil)
        #expect(configuration.fallbackCertificateData == nil && configuration.fallbackCertificatesData == nil)
        #expect(configuration.schedule.updateInterval == .seconds(604_800))
        #expect(configuration.schedule.expirationThreshold == .seconds(1_209_600))
        #expect(configuration.updateTimeout == .seconds(120) && configuration.preparationTimeout == .seconds(10))
        #expect(configuration.limits.bytes == 8_388_608 && configuration.limits.entries == 10_000)
        #expect(configuration.buildDate == nil && configuration.validatesServer && !configuration.updatesOnMismatch)
        #expect(!configuration.allowsDocumentsToDisablePinning && !configuration.acceptsLossOfPins)
        #expect(configuration.commonNameMatching == .never)
    }

    @Test("Limits of a document are never negative, and a request for one has them")
    func documents() {
        #expect(DocumentLimits(bytes: -1, entries: -1) == DocumentLimits(bytes: 0, entries: 0))
        #expect(DocumentLimits(bytes: 7).entries == 10_000 && DocumentLimits(entries: 7).bytes == 8_388_608)
        let request = RemoteDataRequest(url: url)
        #expect(request.headers.isEmpty && request.maximumBytes == 8_388_608)
        #expect(request.validatesServer && !request.allowsPlainHTTP)
        expectUsual(URLSessionDataProvider())
        expectUsual(FileDataStore())
        let schedule = UpdateSchedule()
        #expect(schedule.updateInterval == .seconds(604_800) && schedule.expirationThreshold == .seconds(1_209_600))
    }

    @Test("A trust server's document is fresh for an hour, and accepted for a day more")
    func trustServer() throws {
        let signer = try TrustServerSigner(certificate: try TestTrustServer().certificate)
        let configuration = TrustServerConfiguration(url: url, signer: signer, customer: "gcx")
        #expect(configuration.maximumAge == .seconds(3_600) && configuration.grace == .seconds(86_400))
        #expect(configuration.preparationTimeout == .seconds(10) && configuration.updateTimeout == .seconds(120))
        #expect(configuration.limits == DocumentLimits() && !configuration.allowsLegacyDigests)
        #expect(configuration.buildDate == nil)
        expectUsual(configuration.remoteDataProvider)
        expectUsual(configuration.secureDataStore)
    }

    @Test("Lists of revoked certificates are asked for every six hours, and a status that is not known passes")
    func revocation() {
        let configuration = RevocationConfiguration()
        #expect(configuration.authorities.isEmpty && configuration.followsDistributionPoints)
        #expect(configuration.certificates.isEmpty && configuration.lists.isEmpty)
        #expect(configuration.unknownLeaf == .passesWithoutList && configuration.unknownIssuer == .passesWithoutList)
        #expect(configuration.schedule.updateInterval == .seconds(21_600))
        #expect(configuration.schedule.expirationThreshold == .seconds(86_400))
        #expect(configuration.maximumBytes == 67_108_864 && configuration.maximumLists == 64)
        #expect(configuration.maximumTotalBytes == 268_435_456)
        #expect(configuration.updateTimeout == .seconds(120) && configuration.preparationTimeout == .seconds(30))
        expectUsual(configuration.remoteDataProvider)
        expectUsual(configuration.secureDataStore, bytes: 68_157_440)
    }

    @Test("A list of logs is asked for once a day")
    func transparency() throws {
        let key = try SubjectPublicKeyInfo(der: TestKey().subjectPublicKeyInfoDER)
        let configuration = TransparencyLogConfiguration(
            listURL: url, signatureURL: url, key: key, shipped: TransparencyLogList([], issuedAt: .distantPast))
        #expect(configuration.updateInterval == .seconds(86_400) && configuration.updateTimeout == .seconds(120))
        #expect(configuration.buildDate == nil)
        expectUsual(configuration.remoteDataProvider)
        expectUsual(configuration.secureDataStore)
    }

    @Test("The budget of a validation is the documented one")
    func validation() {
        let limits = ValidationLimits()
        #expect(limits.intermediates == 8 && limits.signatures == 100 && limits.signatureWork == 240)
        #expect(limits.work == 250_000 && limits.steps == 1_000 && limits.nameConstraintComparisons == 250_000)
        #expect(limits.presentedCertificates == 128 && limits.presentedBytes == 1_048_576)
    }
}
