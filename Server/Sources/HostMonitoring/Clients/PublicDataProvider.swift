package import Foundation
package import Holdfast
import HoldfastProbe
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import ServerFoundation

/// Downloads public documents without decoding them, so that no response takes more memory than requested, no matter
/// what a web server sends. URLSession on Linux decodes responses without a limit.
///
/// It uses TLS with the system's authorities; plain HTTP is permitted only to this machine.
package struct PublicDataProvider: RemoteDataProvider {
    private let limit: Duration
    private static let maximumRedirects = 5
    private static let redirects: Set<Int> = [301, 302, 303, 307, 308]

    /// Makes a provider.
    package init() { self.init(limit: .seconds(60)) }

    /// - Parameter limit: the maximum time of one response.
    package init(limit: Duration) { self.limit = limit }

    /// Downloads a document.
    /// - Throws: `RemoteDataError`.
    package func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        var request = request
        request.headers["Accept-Encoding"] = "identity"
        for _ in 0...Self.maximumRedirects {
            let answer = try await answer(to: request)
            guard Self.redirects.contains(answer.status) else { return try Self.response(answer, to: request) }
            request.url = try Self.target(of: answer, from: request.url)
        }
        throw RemoteDataError(
            .redirectRefused, expected: "at most \(Self.maximumRedirects) redirects", found: "more")
    }

    private func answer(to request: RemoteDataRequest) async throws -> HTTPExchange.Answer {
        let isEncrypted = Self.isEncrypted(request.url)
        guard isEncrypted || Self.isPlain(request.url) && Self.isThisMachine(request.url) else {
            throw RemoteDataError(
                .insecureURL, expected: "an https URL, or an http URL of this machine", found: "another")
        }
        do {
            let host = try DialedHost(url: request.url)
            let context = isEncrypted ? try Self.context() : nil
            return try await HTTPExchange(request, of: host, within: limit).answer(
                from: host.name, port: host.port ?? (isEncrypted ? 443 : 80), on: MultiThreadedEventLoopGroup.singleton
            ) { pipeline in
                guard let context else { return }
                let name = IPAddress(host) == nil ? host.name : nil
                try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: name))
            }
        } catch is HTTPExchange.TooLarge {
            throw RemoteDataError(.tooLarge, expected: "at most \(request.maximumBytes) bytes", found: "more")
        } catch {
            throw RemoteDataError(.connectionFailed, expected: "a whole answer", found: "none")
        }
    }

    /// The system's authorities are read each time, because they change while a server runs.
    private static func context() throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }

    package static func response(
        _ answer: HTTPExchange.Answer, to request: RemoteDataRequest
    ) throws -> RemoteDataResponse {
        let isConditional = ["If-None-Match", "If-Modified-Since"].contains { request.headers[$0] != nil }
        if answer.status == 304, isConditional { return RemoteDataResponse(.notModified) }
        guard answer.headers["Content-Encoding"].allSatisfy({ $0.utf8.elementsEqual("identity".utf8) }) else {
            throw RemoteDataError(
                .connectionFailed, expected: "the document without content encoding",
                found: "an encoded document, although none was requested")
        }
        return try RemoteDataResponse(answer)
    }

    /// The target of a redirect: TLS must lead to TLS, and only this machine may redirect to this machine.
    package static func target(of answer: HTTPExchange.Answer, from url: URL) throws -> URL {
        guard let text = answer.header("Location"), ASCIIText.isPrintable(text.utf8, 1...2_048),
            let target = URL(string: text, relativeTo: url)?.absoluteURL, target.user() == nil,
            isEncrypted(target) || isPlain(url) && isPlain(target) && isThisMachine(target),
            isThisMachine(url) || !isThisMachine(target)
        else {
            throw RemoteDataError(
                .redirectRefused, status: answer.status, expected: "a redirect to https", found: "another")
        }
        return target
    }

    private static func isEncrypted(_ url: URL) -> Bool { (url.scheme ?? "").lowercased() == "https" }

    private static func isPlain(_ url: URL) -> Bool { (url.scheme ?? "").lowercased() == "http" }

    private static func isThisMachine(_ url: URL) -> Bool {
        guard let host = try? DialedHost(url: url) else { return false }
        guard let address = IPAddress(host) else { return host.name.utf8.elementsEqual("localhost".utf8) }
        return address.octets.count == 4
            ? address.octets[0] == 127 : address.octets == [UInt8](repeating: 0, count: 15) + [1]
    }
}
