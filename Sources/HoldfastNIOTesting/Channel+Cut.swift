#if Services
package import NIOCore
import NIOSSL

extension Channel {
    /// Closes the connection on its event loop without TLS's close_notify, which the peer may not answer.
    package func cut() {
        if let tls = try? pipeline.syncOperations.context(handlerType: NIOSSLServerHandler.self) {
            tls.close(promise: nil)
        } else {
            close(promise: nil)
        }
    }
}
#endif
