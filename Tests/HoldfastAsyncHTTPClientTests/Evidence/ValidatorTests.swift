import Foundation
import Holdfast
import HoldfastAsyncHTTPClient
import HoldfastNIOTesting
import HoldfastTesting
import NIOSSL
import Testing

/// A validator's settings besides its anchors, each for the same server that a plain validator accepts.
enum ValidatorSetting: String, CaseIterable, Sendable {
    case plain, revocation, limits, publicSuffixes

    func validator(_ setting: HTTPSetting, of leaf: TestCertificate, anchors: any AnchorSource) throws -> PathValidator
    {
        var limits = ValidationLimits()
        limits.presentedCertificates = 1
        let serial = Array(try X509Certificate(der: leaf.der).serialNumber)
        let lists = try [
            setting.issuing.revocationList { $0.serialNumbers = [serial] }, setting.root.revocationList(),
        ].map { try CertificateRevocationList(der: $0) }
        return switch self {
        case .plain: PathValidator(anchors: anchors, profile: .strict)
        case .revocation: PathValidator(anchors: anchors, profile: .strict, revocation: .crls(lists))
        case .limits: PathValidator(anchors: anchors, profile: .strict, limits: limits)
        case .publicSuffixes:
            PathValidator(anchors: anchors, profile: .strict, publicSuffixes: try PublicSuffixList("example.com"))
        }
    }

    var code: TrustFailure.Code? {
        switch self {
        case .plain: nil
        case .revocation: .revoked
        case .limits: .chainTooLarge
        case .publicSuffixes: .profileViolation
        }
    }
}

@Suite("A validator with anchors of a store", .timeLimit(.minutes(15)))
struct ValidatorTests {
    @Test("decides for a client by all that it was given", arguments: ValidatorSetting.allCases)
    func client(_ given: ValidatorSetting) async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let leaf = try setting.leaf("*.example.com")
        let anchors = try setting.anchors()
        let store = try await TrustAnchorStore { anchors }
        try await withOrigin(leaf) { origin in
            try await setting.withClient(validator: given.validator(setting, of: leaf, anchors: store)) { client in
                guard let code = given.code else { return try await client.expectAnswer(origin.url()) }
                #expect(await client.refusal(origin.url())?.code == code)
                try await expectNoRequest(origin)
            }
        }
    }

    @Test("decides for downloads by all that it was given", arguments: ValidatorSetting.allCases)
    func provider(_ given: ValidatorSetting) async throws {
        let setting = try HTTPSetting()
        let leaf = try setting.leaf("*.example.com", "127.0.0.1")
        let anchors = try setting.anchors()
        let store = try await TrustAnchorStore { anchors }
        let provider = AsyncHTTPClientDataProvider(validator: try given.validator(setting, of: leaf, anchors: store))
        try await withOrigin(leaf) { origin in
            let url = try #require(URL(string: origin.url(host: "127.0.0.1")))
            do {
                _ = try await provider.data(for: RemoteDataRequest(url: url, headers: [:], maximumBytes: 1_000))
                #expect(given.code == nil)
            } catch let error as RemoteDataError {
                let code = try #require(given.code, "\(error)")
                #expect(error.found.contains(code.rawValue), "\(error)")
            }
        }
    }
}
