import Holdfast
import HoldfastOutput
import HoldfastPublishing

/// The output of `--plan`: the objects in the order in which they must be uploaded. Its fields are those of
/// docs/formats.md.
struct RepositoryPlan: Encodable {
    struct Object: Encodable {
        let path: String
        /// The path of the file, relative to the folder in which the command ran, unless the repository was given as an
        /// absolute path.
        let file: String
        let sha256: String
        let bytes: Int
        let contentType: String
        let cacheControl: String
        let precondition: String
        /// Absent if nothing may be replaced.
        let replaces: [String]?
    }

    let version = 1
    /// Whether the files exist. Otherwise the plan shows what publishing would write.
    let isWritten: Bool
    let objects: [Object]
    private let versions: String
    private let folder: String

    init(_ plan: TUFUploadPlan, of live: TUFRepositoryState.Live, in place: RepositoryPlace, isWritten: Bool) {
        self.isWritten = isWritten
        versions = live.versions
        folder = place.path
        objects = plan.objects.map {
            Object(
                path: $0.path, file: "\(place.path)/public/\($0.path)", sha256: $0.sha256, bytes: $0.byteCount,
                contentType: $0.contentType, cacheControl: $0.cacheControl, precondition: $0.precondition.rawValue,
                replaces: $0.precondition == .unchanged ? $0.replaces : nil)
        }
    }

    /// - Parameter file: the destination of the JSON.
    func print(asJSON: Bool, to file: DocumentOutput) throws {
        let output = Output.standard
        guard !asJSON else { return try file.write(try Output.jsonText(self)) }
        output.line(isWritten ? "To be uploaded: \(versions)" : "Nothing was written. To be published: \(versions)")
        let width = "\(objects.count)".count
        for (index, object) in objects.enumerated() {
            let number = "\(index + 1)"
            output.line("  \(String(repeating: " ", count: width - number.count))\(number)  \(object.path)")
            let condition = object.precondition == "absent" ? "only if it is not there" : "only over what it replaces"
            output.line(
                "  \(String(repeating: " ", count: width))  \(object.bytes) bytes, \(condition), \(object.cacheControl)",
                .faint)
        }
        output.line(
            isWritten
                ? "Next: upload \(SafeText.escapedLine(folder))/public in this order; --json says it to programs"
                : "Next: the same command without --plan")
    }

    private enum CodingKeys: CodingKey {
        case version, isWritten, objects
    }
}
