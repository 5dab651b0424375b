import Holdfast
import NIOCore

/// The first handler of a connection: it sends nothing until the socket is known to be connected to an address that may
/// be probed.
final class AddressGuard: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// The address and failure that the handler recorded. The address of a closed connection is no longer available.
    struct Sight: Sendable {
        var address: PeerAddress?
        var failure: ProbeFailure?
    }

    private let filter: AddressFilter?
    private let place: String
    private let sight: Lock<Sight>

    /// - Parameters:
    ///   - filter: the addresses that may be probed; nil for all.
    ///   - place: the destination, for messages.
    ///   - sight: the storage for the address and failure.
    init(_ filter: AddressFilter?, at place: String, noting sight: Lock<Sight>) {
        self.filter = filter
        self.place = place
        self.sight = sight
    }

    func channelActive(context: ChannelHandlerContext) {
        let address = context.channel.remoteAddress.flatMap(PeerAddress.init)
        sight.withLock { $0.address = address }
        guard let filter, let failure = Self.failure(of: address, by: filter, at: place) else {
            return context.fireChannelActive()
        }
        sight.withLock { $0.failure = failure }
        context.close(promise: nil)
    }

    private static func failure(of address: PeerAddress?, by filter: AddressFilter, at place: String) -> ProbeFailure? {
        guard let address else {
            return .notAllowed(place, found: "a connection to an address that is not known")
        }
        return filter.refusal(of: address.address).map {
            .notAllowed(place, found: "a connection to \(address), which is \($0)")
        }
    }
}

extension PeerAddress {
    init?(_ address: SocketAddress) {
        guard let text = address.ipAddress, let port = address.port, let ip = try? IPAddress(text) else { return nil }
        self.init(ip, port: port)
    }
}

extension ProbeFailure {
    static func notAllowed(_ place: String, found: String) -> ProbeFailure {
        ProbeFailure(
            .addressNotAllowed, at: place, expected: "an address that may be asked", found: found,
            sentence: "\(place) may not be asked: \(found)")
    }
}
