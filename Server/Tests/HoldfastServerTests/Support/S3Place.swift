import Foundation
import Testing

@testable import ServerFoundation

/// A public bucket, as clients need it, in a separate moto on the loopback address.
struct S3Place {
    private static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    private static let given = ProcessInfo.processInfo.environment["HOLDFAST_S3_TOOLS"]

    /// Where moto and aws are: the folder that `scripts/python s3` made, or the one that `HOLDFAST_S3_TOOLS` names; an
    /// empty name says that this machine cannot have them.
    private static let tools: URL? = {
        let folder = given.map { URL(filePath: $0) } ?? package.appending(path: ".build-s3/bin")
        let isThere = FileManager.default.isExecutableFile(atPath: folder.appending(path: "moto_server").path)
        return given != "" && isThere ? folder : nil
    }()

    static let isTested = tools != nil || (ForeignProgram.areRequired && given != "")

    /// Where clients find documents.
    let url: String
    /// `scripts/publish-s3`, which uploads to the bucket.
    let program: ProgramCommand
    private let environment: [String]
    private let folder: URL

    static func with(_ folder: URL, _ body: (S3Place) async throws -> Void) async throws {
        let tools = try #require(Self.tools, "run scripts/python s3")
        let port = try await CachingNginx.freePort()
        let server = try ServingProcess([
            tools.appending(path: "moto_server").path, "-H", "127.0.0.1", "-p", "\(port)",
        ])
        let result: Result<Void, any Error>
        do {
            try await CachingNginx.waitUntilItListens(port, server)
            let place = try S3Place(port, tools, folder)
            try await place.makeBucket()
            result = .success(try await body(place))
        } catch {
            result = .failure(error)
        }
        server.signal(SIGKILL)
        _ = await server.status()
        try result.get()
    }

    private init(_ port: Int, _ tools: URL, _ folder: URL) throws {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let endpoint = "http://127.0.0.1:\(port)"
        self.folder = folder
        environment = [
            "PATH=\(tools.path):\(path)", "AWS_ENDPOINT_URL=\(endpoint)", "AWS_DEFAULT_REGION=us-east-1",
            "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_EC2_METADATA_DISABLED=true",
        ]
        url = "\(endpoint)/pins"
        let script = Self.package.appending(path: "scripts/publish-s3").path
        program = try ProgramCommand(
            [ForeignProgram.required("env").path] + environment + [script, "pins"], limit: 300)
    }

    private func makeBucket() async throws {
        let statement = #""Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::pins/*""#
        try await aws("create-bucket --bucket pins")
        try await aws(
            "put-bucket-policy --bucket pins --policy '{\"Version\":\"2012-10-17\",\"Statement\":[{\(statement)}]}'")
    }

    /// Asks the store.
    func aws(_ words: String) async throws {
        let (status, output) = try await ForeignProgram.run(
            ForeignProgram.required("env"), environment + ["bash", "-c", "aws s3api \(words)"], in: folder,
            withErrors: true)
        #expect(status == 0, "\(String(decoding: output, as: UTF8.self))")
    }
}
