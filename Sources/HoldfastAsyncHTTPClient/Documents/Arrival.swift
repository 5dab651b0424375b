import Holdfast
import NIOCore

/// Checks the address of a download's connection before a request is sent on it, because a name may resolve to any
/// machine.
final class Arrival: Sendable {
    private let place: DownloadRules.Place
    private let isHere = Lock<Bool?>(nil)

    init(place: DownloadRules.Place) { self.place = place }

    /// Whether the last connection led to this machine; nil if that is unknown, as with a proxy.
    var isThisMachine: Bool? { isHere.withLock { $0 } }

    /// Fails for a forbidden address. Call it on the connection's event loop.
    func check(_ channel: any Channel) -> EventLoopFuture<Void> {
        let isHere = Self.isHere(channel)
        self.isHere.withLock { $0 = isHere }
        let isWrong =
            switch place {
            case .anywhere: false
            case .elsewhere: isHere
            case .thisMachine: !isHere
            }
        guard isWrong else { return channel.eventLoop.makeSucceededVoidFuture() }
        let error =
            place == .elsewhere
            ? RemoteDataError(
                .redirectRefused, expected: "a redirect from another machine to another machine",
                found: "a name that resolves to an address of this one")
            : RemoteDataError(
                .insecureURL, expected: "http to this machine alone", found: "a name that resolves to another one")
        return channel.eventLoop.makeFailedFuture(error)
    }

    /// A connection to one of this machine's own addresses has the same address at both ends.
    private static func isHere(_ channel: any Channel) -> Bool {
        guard let remote = channel.remoteAddress.flatMap(octets) else { return true }
        return LocalHost.isAddress(remote) || channel.localAddress.flatMap(octets) == remote
    }

    private static func octets(of address: SocketAddress) -> [UInt8]? {
        address.ipAddress.flatMap { try? DialedHost($0) }?.addressOctets
    }
}
