import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

@Suite(
    "A server that is killed while it ends a program", .timeLimit(.minutes(5)),
    .needs(.program("python3")))
struct KilledUploadTests {
    /// How the program goes on that the server started right before it is killed.
    enum Course: String, CaseIterable, CustomTestStringConvertible {
        /// It goes on until its deadline.
        case hangs
        /// It ends at once, long before its deadline, and leaves a process in the background.
        case ends

        /// The deadline of the program, in seconds.
        var limit: Int64 { self == .hangs ? 4 : 300 }
        var testDescription: String { rawValue }
    }

    /// At first it writes to the place, from the background as well, and kills the server once that listens. All of its
    /// processes hold the lock. Later it uploads as it should. If a process is not ended, it finally writes "survived".
    private static let script = """
        folder=$1 uploader=$2 log=$3 course=$4
        if [ -e "$folder.lock" ]; then exec python3 -B "$uploader" "$folder" "$log"; fi
        exec 9>"$folder.lock"
        flock 9
        parent() { cut -d ' ' -f 4 "/proc/$1/stat"; }
        server=$(parent "$(parent $PPID)")
        linger() {
            for _ in $(seq 3000); do echo late >>"$folder/late"; sleep 0.02; done
            echo survived >"$folder/late"
        }
        trap 'kill -KILL "$server"' TERM
        (trap '' TERM; linger) &
        until [ -e "$folder/late" ] && [ -e "$folder.go" ]; do sleep 0.02; done
        if [ "$course" = ends ]; then kill -KILL "$server"; exit 0; fi
        linger
        """

    /// Publishes what is not signed again: nothing new waits for the place afterwards.
    private func publish(on site: ServeSite) async throws {
        var generator = SystemRandomNumberGenerator()
        let publisher = site.open.publisher
        let content = try await site.open.catalog.draft(
            of: site.app, Catalog.DraftOptions(formats: [ContentFormat(.list, refresh: 3_600)]))
        let change = try await publisher.propose(
            content, proposer: nil, reason: "a test", by: "test", using: &generator
        ).change
        let subject = try await site.open.catalog.change(change).subject(for: site.open.catalog.approvers())
        for approver in [Approver.alice, .bob] {
            try await site.open.catalog.add(try approver.says(.approve, subject, until: site.now + 86_400))
        }
        try await publisher.publish(change)
        try await publisher.everybodyFollows(
            site.app, lettingIn: [site.shown, site.announced], trusting: site.root, clock: site.clock,
            hasChallenges: false, isThorough: false)
    }

    @Test(
        "The watchdog ends all of the program, also once it ended, so nothing writes to the place, and the fence holds",
        arguments: Course.allCases)
    func killed(_ course: Course) async throws {
        try await ServeSite.run { site in
            let bucket = site.folder.appending(path: "bucket")
            try FileManager.default.createDirectory(at: bucket, withIntermediateDirectories: true)
            let (log, lock) = (site.folder.appending(path: "uploads"), URL(filePath: bucket.path + ".lock"))
            let (script, uploader) = (site.folder.appending(path: "program"), site.folder.appending(path: "upload.py"))
            try Data(Self.script.utf8).write(to: script)
            try Data(PlaceSite.uploader.utf8).write(to: uploader)
            let program = try ProgramCommand(
                [
                    ForeignProgram.required("sh").path, script.path, bucket.path, uploader.path, log.path,
                    course.rawValue,
                ], limit: course.limit)
            try await site.open.catalog.set(
                Place(name: PlaceSite.name, url: "https://pins.example.com", program: program), of: site.app, by: "test"
            )
            try await publish(on: site)

            let server = try await ServingProcess.start(site)
            try Data().write(to: URL(filePath: bucket.path + ".go"))
            #expect(await server.status() == SIGKILL)
            // It is free once none of the program's processes is left, the one in the background neither.
            withExtendedLifetime(try FolderLock.waiting(for: lock)) {}
            let late = bucket.appending(path: "late")
            let written = try Data(contentsOf: late)
            #expect(written.starts(with: Data("late\n".utf8)))

            /// A delivery by a server that is started again.
            func deliver(after seconds: Int64) async throws -> Publisher.Delivery {
                let clock = ManualClock(now: site.clock.now.addingTimeInterval(TimeInterval(seconds)))
                let open = try await site.server.open(clock: clock)
                let publisher = Publisher(
                    open.catalog, folder: open.publisher.folder, secret: open.secret, live: open.publisher.live,
                    name: "again", reader: FolderProvider(folder: bucket))
                let delivery = try await publisher.deliverToPlaces()
                await open.engine.close()
                return delivery
            }
            // It is unknown whether the other still uploads: its turn is as long as its program may run, and a minute.
            #expect(try await deliver(after: 0) == Publisher.Delivery())
            #expect(!FileManager.default.fileExists(atPath: log.path))
            let delivery = try await deliver(after: course.limit + 90)
            #expect(delivery.problems == [] && delivery.confirmed.contains("bucket: lists/bank.json"), "\(delivery)")
            #expect(try Data(contentsOf: late) == written)
        }
    }
}
