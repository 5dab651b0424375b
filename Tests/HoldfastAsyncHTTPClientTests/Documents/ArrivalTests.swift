import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOPosix
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite("Where a connection of a download arrived", .timeLimit(.minutes(15)))
struct ArrivalTests {
    private func withChannel(to host: String, _ body: (any Channel) async throws -> Void) async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let listener = try await ServerBootstrap(group: group).bind(host: host, port: 0).get()
        let address = try #require(listener.localAddress)
        let channel = try await ClientBootstrap(group: group).connect(to: address).get()
        try await body(channel)
        try await channel.close().get()
        try await listener.close().get()
    }

    private func error(_ place: DownloadRules.Place, _ channel: any Channel) async -> RemoteDataError.Code? {
        do {
            try await Arrival(place: place).check(channel).get()
            return nil
        } catch {
            return (error as? RemoteDataError)?.code
        }
    }

    @Test(
        "is this machine whatever name led there, and no place for a redirect from elsewhere",
        arguments: ["127.0.0.1"] + (LoopbackFleet.hasWholeBlock ? ["127.0.0.3"] : []))
    func thisMachine(host: String) async throws {
        try await withChannel(to: host) { channel in
            #expect(await error(.elsewhere, channel) == .redirectRefused)
            #expect(await error(.thisMachine, channel) == nil)
            #expect(await error(.anywhere, channel) == nil)
            let arrival = Arrival(place: .anywhere)
            try await arrival.check(channel).get()
            #expect(arrival.isThisMachine == true)
        }
    }

    @Test("follows from the rules, the address of the machine that redirects and the scheme")
    func place() throws {
        let (secure, plain) = (
            try #require(URL(string: "https://a.example/")), try #require(URL(string: "http://a.example/"))
        )
        let (loopback, lists) = (
            DownloadRules(allowsPlainHTTPToLoopback: true),
            DownloadRules(allowsPlainHTTPToLoopback: false, allowsPlainHTTP: true)
        )
        #expect(loopback.place(of: secure, redirectedFromThisMachine: nil) == .anywhere)
        #expect(loopback.place(of: secure, redirectedFromThisMachine: true) == .anywhere)
        #expect(loopback.place(of: secure, redirectedFromThisMachine: false) == .elsewhere)
        #expect(loopback.place(of: plain, redirectedFromThisMachine: nil) == .thisMachine)
        #expect(lists.place(of: plain, redirectedFromThisMachine: nil) == .anywhere)
        #expect(lists.place(of: plain, redirectedFromThisMachine: false) == .elsewhere)
    }
}
