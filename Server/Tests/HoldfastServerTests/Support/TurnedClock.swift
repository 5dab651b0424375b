import Foundation
import Holdfast
import Synchronization

@testable import ServerFoundation
@testable import ServerWeb

/// A clock that a test turns while programs run that go by it: faketime's library reads from a file how far ahead of the
/// machine's it is. All clocks of such a program move together, as they do when months really pass: what measures time by
/// one that cannot be set finds that the other one was not set either.
final class TurnedClock: WallClock {
    /// Whether there is what it takes.
    static let isTested = WrongClock.isTested && ForeignProgram.isTested("cc")

    /// The library takes the time at which a timer ends for one of the clock that may be set, whatever clock the timer goes
    /// by (`timer_settime_common`, "only CLOCK_REALTIME is handled"), so that none ends anymore: a server would sleep for
    /// ever. This is loaded before it, and says how long the timer has instead. A timer that began before the clock was
    /// turned ends late, but as soon as another one begins: that is the next second of a server.
    private static let timers = """
        #include <sys/syscall.h>
        #include <sys/timerfd.h>
        #include <time.h>
        #include <unistd.h>

        int timerfd_settime(int file, int flags, const struct itimerspec *value, struct itimerspec *old)
        {
            struct itimerspec rest = *value;
            struct timespec now;
            if ((flags & TFD_TIMER_ABSTIME) && (rest.it_value.tv_sec || rest.it_value.tv_nsec)) {
                clock_gettime(CLOCK_MONOTONIC, &now);
                long long left = (rest.it_value.tv_sec - now.tv_sec) * 1000000000LL
                    + rest.it_value.tv_nsec - now.tv_nsec;
                if (left < 1) left = 1;
                rest.it_value.tv_sec = left / 1000000000;
                rest.it_value.tv_nsec = left % 1000000000;
            }
            return syscall(SYS_timerfd_settime, file, 0, &rest, old);
        }
        """

    private let file: URL
    private let ahead = Mutex<Int64>(0)
    /// Makes a program go by it, started with `WrongClock.wrapper`.
    let environment: [String: String]

    /// A clock that is right.
    /// - Parameter folder: where its files go.
    init(in folder: URL) async throws {
        file = folder.appending(path: "turned")
        let (source, library) = (folder.appending(path: "timers.c"), folder.appending(path: "timers.so"))
        try Data(Self.timers.utf8).write(to: source)
        let (status, output) = try await ForeignProgram.run(
            ForeignProgram.required("cc"), ["-shared", "-fPIC", "-o", library.path, source.path], in: folder,
            withErrors: true)
        guard status == 0 else { throw ServingProcess.Ended(description: String(decoding: output, as: UTF8.self)) }
        environment = [
            "LD_PRELOAD": "\(library.path):\(try WrongClock.library())", "FAKETIME_TIMESTAMP_FILE": file.path,
            "FAKETIME_NO_CACHE": "1", "NO_FAKE_STAT": "1",
        ]
        try advance(by: 0)
    }

    var now: Date { SystemWallClock().now.addingTimeInterval(TimeInterval(ahead.withLock { $0 })) }

    /// The seconds since the machine started in those programs: faketime has all clocks show the same time.
    var steady: SteadyTime {
        SteadyTime(boot: SteadyTime.system.boot) { [self] in Int64(now.timeIntervalSince1970) }
    }

    /// Turns it.
    func advance(by seconds: Int64) throws {
        let sum = ahead.withLock { $0 } + seconds
        // A program reads the old file or the new one, and never a part.
        try Data("+\(sum)\n".utf8).write(to: file, options: .atomic)
        ahead.withLock { $0 = sum }
    }
}
