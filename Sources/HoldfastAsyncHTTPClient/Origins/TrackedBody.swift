import AsyncHTTPClient
import NIOCore

/// The body of a response. It keeps its origin's connections from being ended as idle until it is read to its end,
/// fails, or is released.
struct TrackedBody: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let base: HTTPClientResponse.Body
    let lease: OriginLease

    struct AsyncIterator: AsyncIteratorProtocol {
        var base: HTTPClientResponse.Body.AsyncIterator
        let lease: OriginLease

        // AsyncHTTPClient's iterator runs outside the caller's isolation and cannot be sent out of it.
        @concurrent
        mutating func next() async throws -> ByteBuffer? {
            do {
                let next = try await base.next()
                if next == nil { lease.end() }
                return next
            } catch {
                lease.end()
                throw error
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: base.makeAsyncIterator(), lease: lease) }
}
