/// A picture is drawn twice, and screens show the one that they have room for: letters of one that shrinks could not be
/// read.
enum ChartLayout: String, Sendable, Hashable, CaseIterable {
    /// Names stand beside the bars.
    case wide
    /// Names stand above the bars.
    case narrow

    /// How wide it is, in units of its coordinates.
    var width: Int64 { self == .wide ? 960 : 340 }
    /// Where bars begin.
    var left: Int64 { self == .wide ? 200 : 8 }
    /// Where bars end.
    var right: Int64 { width - (self == .wide ? 12 : 8) }
    /// How many times there is room for above it.
    var maximumTickCount: Int64 { self == .wide ? 7 : 3 }
    /// What names take of each row's height.
    var nameHeight: Int64 { self == .wide ? 0 : 30 }

    /// Where words around a place are held, so that they do not leave the picture.
    func anchor(_ x: Int64) -> PageValue {
        let room: Int64 = 36
        return .text(x < room ? "start" : x > width - room ? "end" : "middle")
    }
}
