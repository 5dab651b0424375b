import Foundation
import Holdfast
import NIOCore
import NIOSSL

/// One pin file on both ends: the client pins what it says, and the server does not start with a certificate that clients
/// with this file would refuse.
@main
struct PinFileOnBothEnds {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            switch (arguments.first, arguments.count) {
            case ("serve", 6):
                let pinFile = try PinFile(contentsOf: URL(filePath: arguments[1]))
                let host = try DialedHost(arguments[2], port: Int(arguments[3]))
                let certificates = try NIOSSLCertificate.fromPEMFile(arguments[4])
                let key = try NIOSSLPrivateKey(file: arguments[5], format: .pem)
                let server = try await PinCheckedServer.start(
                    for: host, at: host.port ?? 443, certificates: certificates, key: key, pinFile: pinFile,
                    anchors: .system())
                print("listening on port \(server.localAddress?.port ?? 0)")
                try await server.closeFuture.get()
            case ("ask", 4):
                let manager = try TrustManager(pinFile: URL(filePath: arguments[1]))
                let host = try DialedHost(arguments[2], port: Int(arguments[3]))
                print(try await PinFileClient(manager: manager, anchors: .system()).ask(host))
            default:
                print("usage: PinFileOnBothEnds serve PINS.json HOST PORT CERT.pem KEY.pem")
                print("       PinFileOnBothEnds ask PINS.json HOST PORT")
                exit(2)
            }
        } catch {
            print(error)
            exit(1)
        }
    }
}
