import Foundation
package import Holdfast
import NIOCore
import NIOPosix

/// Downloads over plain HTTP from an address of this machine, and sends nothing if another machine has taken the
/// address.
package struct OwnAddressProvider: RemoteDataProvider {
    private static let limit: Duration = .seconds(15)

    package init() {
    }

    package func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        let answer: HTTPExchange.Answer
        do {
            let host = try DialedHost(url: request.url)
            answer = try await HTTPExchange(request, of: host, within: Self.limit).answer(
                from: host.name, port: host.port ?? 80, on: MultiThreadedEventLoopGroup.singleton
            ) { try $0.addHandler(OwnAddressHandler()) }
        } catch {
            throw RemoteDataError(
                .connectionFailed, expected: "an answer of this machine at its own address", found: "none")
        }
        return try RemoteDataResponse(answer)
    }
}

/// Permits only connections within this machine: both ends then have the same address. An address that several machines
/// share, one at a time, may have moved.
final class OwnAddressHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelActive(context: ChannelHandlerContext) {
        guard let own = context.channel.localAddress?.ipAddress, let other = context.channel.remoteAddress?.ipAddress,
            own.utf8.elementsEqual(other.utf8)
        else { return context.close(promise: nil) }
        context.fireChannelActive()
    }
}
