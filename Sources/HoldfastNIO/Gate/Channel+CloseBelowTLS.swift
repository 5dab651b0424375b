package import NIOCore
import NIOSSL

extension Channel {
    /// Closes the socket without a TLS close_notify, so that an untrusted peer cannot keep the connection open by not
    /// answering. Call it on the event loop, but not from within TLS's own handler.
    package func closeBelowTLS() {
        if let context = try? pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self) {
            context.close(promise: nil)
        } else {
            close(promise: nil)
        }
    }

    /// The same, but later, because BoringSSL may be on this call stack and is not reentrant.
    package func closeBelowTLSLater() { eventLoop.execute { self.closeBelowTLS() } }
}
