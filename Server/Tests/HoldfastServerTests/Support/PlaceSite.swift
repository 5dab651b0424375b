import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// A folder that a program uploads to, and that clients read at a public address.
struct PlaceSite: Sendable {
    /// Uploads as a plan says: each object on its condition.
    static let uploader = """
        import hashlib, json, os, sys
        root, log = sys.argv[1:]
        plan = json.load(sys.stdin)
        with open(log, "a") as file:
            file.write("run\\n")
        def path(one):
            return os.path.join(root, one["path"])
        def found(one):
            try:
                with open(path(one), "rb") as file:
                    return hashlib.sha256(file.read()).hexdigest()
            except FileNotFoundError:
                return None
        for one in plan["objects"]:
            old = found(one)
            if old == one["sha256"]:
                continue
            if old is not None and (one["precondition"] == "absent" or old not in one["replaces"]):
                sys.exit("somebody else has published " + one["path"])
            os.makedirs(os.path.dirname(path(one)), exist_ok=True)
            with open(one["file"], "rb") as file, open(path(one), "wb") as copy:
                copy.write(file.read())
        for one in plan["removed"]:
            if found(one) in one["replaces"]:
                os.remove(path(one))
        """

    static let name = "bucket"

    let world: World
    let publisher: Publisher
    /// The folder of public files.
    let folder: URL
    private let log: URL

    init(_ world: World) throws {
        self.world = world
        folder = world.folder.appending(path: "bucket")
        log = world.folder.appending(path: "uploads")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        publisher = Self.publisher(world.catalog, world, folder)
    }

    private static func publisher(
        _ catalog: Catalog, _ world: World, _ folder: URL, name: String = "here"
    ) -> Publisher {
        Publisher(
            catalog, folder: world.publisher.folder, secret: World.secret(), live: world.publisher.live, name: name,
            reader: FolderProvider(folder: folder))
    }

    /// The publisher of another process on the same server, or of another machine.
    func another(_ engine: (any StorageEngine)? = nil, name: String = "here") async throws -> Publisher {
        let catalog = if let engine { try await world.another(engine).catalog } else { world.catalog }
        return Self.publisher(catalog, world, folder, name: name)
    }

    /// How often the program that uploads was run.
    var runs: Int {
        ((try? String(contentsOf: log, encoding: .utf8)) ?? "").split(separator: "\n").count
    }

    /// The program that uploads.
    func honest(limit: Int64 = 120) throws -> ProgramCommand {
        let script = world.folder.appending(path: "upload.py")
        try Data(Self.uploader.utf8).write(to: script)
        return try ProgramCommand(
            [ForeignProgram.required("python3").path, "-B", script.path, folder.path, log.path], limit: limit)
    }

    /// A program of the shell, which gets the folder as its argument.
    func shell(_ script: String, limit: Int64 = 120) throws -> ProgramCommand {
        let file = world.folder.appending(path: "program-\(UUID().uuidString)")
        try Data("\(script)\n".utf8).write(to: file)
        return try ProgramCommand([ForeignProgram.required("sh").path, file.path, folder.path], limit: limit)
    }

    func set(_ program: ProgramCommand, onlyPublisher: String? = nil) async throws {
        let place = try Place(
            name: Self.name, url: "https://pins.example.com", program: program, onlyPublisher: onlyPublisher)
        try await world.catalog.set(place, of: world.app, by: "operator")
    }

    func content(_ path: String) -> [UInt8]? {
        (try? Data(contentsOf: folder.appending(path: path))).map { Array($0) }
    }
}
