import Foundation
import Workloads

/// Runs only one workload for some seconds: for perf and callgrind.
@main
struct Profile {
    private static let workloads: [String: @Sendable () async throws -> Workload] = [
        "pins": { try PinWorkloads.check(.p256()) },
        "hashes": { try PinWorkloads.bareHashes(.p256()) },
        "cold": { ValidationWorkloads.cold(try .p256()) },
        "cold-rsa": { ValidationWorkloads.cold(try .rsa2048()) },
        "bare": { try ValidationWorkloads.bareSignatures(.p256()) },
        "bare-rsa": { try ValidationWorkloads.bareSignatures(.rsa2048()) },
        "warm": { ValidationWorkloads.warm(try .p256()) },
        "wrong-name": { ValidationWorkloads.refusal("wrong name", try .wrongName(names: 137)) },
        "hostile": { ValidationWorkloads.refusal("hostile", try .hostile()) },
        "handshake-nobody": { try HandshakeWorkloads(.p256()).withoutVerification() },
        "handshake-boringssl": { try HandshakeWorkloads(.p256()).withBoringSSL() },
        "handshake-bare": { try HandshakeWorkloads(.p256()).withBareSignatures() },
        "handshake-new": { try HandshakeWorkloads(.p256()).withHoldfast(cached: false) },
        "handshake-cached": { try HandshakeWorkloads(.p256()).withHoldfast(cached: true) },
        "handshake-pins": { try HandshakeWorkloads(.p256()).withHoldfastPins(cached: false) },
        "handshake-boringssl-rsa": { try HandshakeWorkloads(.rsa2048()).withBoringSSL() },
        "handshake-new-rsa": { try HandshakeWorkloads(.rsa2048()).withHoldfast(cached: false) },
        "request-plain": { try await RequestWorkloads().withAsyncHTTPClient(newConnection: false) },
        "request-pinned": { try await RequestWorkloads().withPinnedHTTPClient(newConnection: false) },
        "request-plain-new": { try await RequestWorkloads().withAsyncHTTPClient(newConnection: true) },
        "request-pinned-new": { try await RequestWorkloads().withPinnedHTTPClient(newConnection: true) },
        "policies": { try PolicyWorkloads.lookup(hosts: 100_000) },
    ]

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let make = workloads[arguments[1]], let times = Int(arguments[2]) else {
            let names = workloads.keys.sorted().joined(separator: " ")
            FileHandle.standardError.write(Data("usage: profile WORKLOAD TIMES\n  WORKLOAD: \(names)\n".utf8))
            exit(2)
        }
        try await make().run(times)
    }
}
