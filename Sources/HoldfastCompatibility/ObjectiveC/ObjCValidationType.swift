#if canImport(ObjectiveC)
import CHoldfastCompatibility

extension ObjCValidationType {
    /// The same type for Swift. Objective-C allows any number; an unknown one becomes `custom`, which rejects unless
    /// there is a block.
    var swiftType: ValidationType { ValidationType(rawValue: rawValue) ?? .custom }
}
#endif
