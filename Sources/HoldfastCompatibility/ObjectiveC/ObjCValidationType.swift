#if canImport(ObjectiveC)
import CHoldfastCompatibility

extension ObjCValidationType {
    /// The same type for Swift. Objective-C allows any number; one that is none of the cases becomes `custom`, which
    /// rejects unless there is a block.
    var swiftType: ValidationType { ValidationType(rawValue: rawValue) ?? .custom }
}
#endif
