package import NIOCore
import NIOSSL

extension Channel {
    /// Closes the socket without the goodbye of TLS: a peer that is not trusted does not get to answer it, nor to keep
    /// the connection open by not answering. On the event loop, and not from within TLS's own handler.
    package func closeBelowTLS() {
        if let context = try? pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self) {
            context.close(promise: nil)
        } else {
            close(promise: nil)
        }
    }
}
