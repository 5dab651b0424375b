#if canImport(ObjectiveC)
import CHoldfastCompatibility

extension ObjCValidationType {
    /// The same type as Swift has it; a number that is none of them, which Objective-C lets one pass, is `custom`: without
    /// a block that rejects.
    var swiftType: ValidationType { ValidationType(rawValue: rawValue) ?? .custom }
}
#endif
