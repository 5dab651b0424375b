import Foundation
import Holdfast
import HoldfastTesting

/// An authority's server of revocation lists, without a network.
final class ListService: RemoteDataProvider {
    private let list = Lock<[UInt8]>([])
    private let log = RecordingLog()

    func publish(_ list: [UInt8]) { self.list.withLock { $0 = list } }

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        RemoteDataResponse(.body(Data(list.withLock { $0 })))
    }

    /// A store of the lists of a setting's issuing authority.
    func store(of setting: HTTPSetting) throws -> RevocationStore {
        var configuration = RevocationConfiguration(authorities: [
            .init(
                certificate: try X509Certificate(der: setting.issuing.certificate.der),
                urls: [URL(string: "http://lists.example.com/issuing.crl")].compactMap(\.self))
        ])
        configuration.secureDataStore = InMemoryDataStore()
        configuration.remoteDataProvider = self
        return try RevocationStore(configuration: configuration, clock: setting.clock, logger: log.logger)
    }
}

extension TestCertificate {
    /// The content bytes of its serial number.
    func serialNumber() throws -> [UInt8] { Array(try X509Certificate(der: der).serialNumber) }
}
