import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// A bucket in a separate moto on the loopback address, which all clients may read.
struct S3Store {
    static let bucket = "pins"

    /// Where moto and aws are: the folder that `scripts/python s3` made, or the one that `HOLDFAST_S3_TOOLS` names. An
    /// empty name says that there can be none on this machine.
    private static let tools: URL? = {
        guard !isOutOfReach else { return nil }
        let given = ProcessInfo.processInfo.environment["HOLDFAST_S3_TOOLS"].map { URL(filePath: $0) }
        let folder = given ?? package.appending(path: ".build-s3/bin")
        return FileManager.default.isExecutableFile(atPath: folder.appending(path: "moto_server").path) ? folder : nil
    }()
    static let isAvailable = tools != nil || (ForeignPeers.areRequired && !isOutOfReach)
    private static let isOutOfReach = ProcessInfo.processInfo.environment["HOLDFAST_S3_TOOLS"] == ""

    private static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Where clients find the repository, with a slash at the end.
    let url: String
    private let environment: [String: String]
    private let folder: URL

    /// - Parameter folder: where commands run.
    static func with(_ folder: URL, _ body: (S3Store) async throws -> Void) async throws {
        let tools = try #require(Self.tools, "run scripts/python s3")
        // It names the port that it was given in its second line.
        let server = try GuardedProcess(
            tools.appending(path: "moto_server"), ["-H", "127.0.0.1", "-p", "0"], in: folder, limit: .seconds(900))
        defer { server.end() }
        let start = " * Running on "
        let endpoint = try await server.firstLine(startingWith: start).dropFirst(start.count)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let store = S3Store(
            url: "\(endpoint)/\(bucket)/",
            environment: [
                "PATH": "\(tools.path):\(path)", "AWS_ENDPOINT_URL": String(endpoint),
                "AWS_DEFAULT_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
                "AWS_EC2_METADATA_DISABLED": "true",
                // Of a script that is killed something stays there.
                "TMPDIR": folder.path, "HOLDFASTCTL": try #require(CommandRun.program).path,
                "UPLOAD": package.appending(path: "scripts/publish-s3").path,
            ], folder: folder)
        let statement = #""Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::pins/*""#
        let made = try await store.shell(
            """
            aws s3api create-bucket --bucket pins
            aws s3api put-bucket-policy --bucket pins --policy '{"Version":"2012-10-17","Statement":[{\(statement)}]}'
            """)
        try #require(made.status == 0, "\(made.errors)")
        try await body(store)
    }

    /// Runs a script of the shell, for which `$HOLDFASTCTL` is the command, `$UPLOAD` is `scripts/publish-s3`, and `aws`
    /// asks this store.
    func shell(_ script: String) async throws -> CommandRun {
        try await CommandRun.run(
            URL(filePath: "/bin/bash"), ["-euo", "pipefail", "-c", script], environment: environment, in: folder,
            limit: .seconds(300))
    }

    /// Uploads what a repository has published.
    /// - Parameter awsFolder: where there is another `aws`, which finds aws's own as `$AWS`.
    func upload(_ repository: String = "site", through awsFolder: String? = nil) async throws -> CommandRun {
        let path = awsFolder.map { "export AWS=$(command -v aws) PATH=\"$PWD/\($0):$PATH\"; " } ?? ""
        return try await shell(
            "\"$HOLDFASTCTL\" repository publish \(repository) --plan --json >\(repository).plan; "
                + "\(path)exec \"$UPLOAD\" pins <\(repository).plan")
    }

    /// The content that clients get under a name.
    func content(of path: String) async throws -> String {
        try await CommandRun.run(try #require(ForeignPeers.curl), ["-sS", "--fail", url + path]).output
    }
}
