import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerModel
@testable import ServerStore

@Suite(
    "A bucket as a place, with scripts/publish-s3", .timeLimit(.minutes(15)),
    .needs(.s3Tools))
struct S3PlaceTests {
    @Test("Documents and a repository go to a bucket, are renewed and removed there, and clients follow at its address")
    func bucket() async throws {
        try await World.run { world in
            try await S3Place.with(world.folder) { store in
                let place = try Place(name: "bucket", url: store.url, program: store.program)
                try await world.catalog.set(place, of: world.app, by: "operator")
                let holders = RepositoryHolders()
                try await world.publishRepository(holders, beside: World.formats.filter { $0.kind == .list })
                let publisher = world.publisher
                let first = try await publisher.deliverToPlaces()
                #expect(first.problems == [] && first.confirmed.contains("bucket: lists/bank.json"))
                // An app that is built with the first root, and asks the bucket.
                let app = try RepositoryApp(
                    "\(store.url)/repo/bank", root: world.oldestRoot(), isBundle: false,
                    provider: URLSessionDataProvider(allowsPlainHTTPToLoopback: true), clock: world.clock)
                #expect(try await app.letsIn(world.shown, trusting: world.root))
                try await world.pass(86_400)
                #expect(try await publisher.renew().problems == [])
                #expect(try await publisher.deliverToPlaces().problems == [])
                #expect(try await app.letsIn(world.shown, trusting: world.root))
                // Another program writes into the bucket: its file stays, and nothing counts as done.
                let other = world.folder.appending(path: "theirs")
                try Data("theirs".utf8).write(to: other)
                try await store.aws("put-object --bucket pins --key repo/bank/metadata/timestamp.json --body theirs")
                try await world.pass(86_400)
                #expect(try await publisher.renew().problems == [])
                let refused = try await publisher.deliverToPlaces()
                #expect(refused.confirmed == [] && refused.problems.first?.contains("exit code 1") ?? false)
            }
        }
    }

    @Test("A document that is no longer published is removed from a bucket")
    func removed() async throws {
        try await World.run { world in
            try await S3Place.with(world.folder) { store in
                let place = try Place(name: "bucket", url: store.url, program: store.program)
                try await world.catalog.set(place, of: world.app, by: "operator")
                try await world.publish(try await world.draft { $0.formats = World.fewFormats })
                #expect(try await world.publisher.deliverToPlaces().problems == [])
                let rest = World.fewFormats.filter { $0.kind != .list }
                try await world.publish(try await world.draft { $0.formats = rest }, forcing: [.lint])
                let delivery = try await world.publisher.deliverToPlaces()
                #expect(delivery.problems == [] && delivery.confirmed.contains("bucket: lists/bank.json"))
            }
        }
    }
}
