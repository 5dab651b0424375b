import Foundation
import Testing

@testable import ServerFoundation

@Suite("What programs inherit")
struct ProgramEnvironmentTests {
    @Test("Programs inherit neither the database's password nor the server's settings, and all else")
    func inherited() {
        let variables = [
            "PATH": "/bin", "HOME": "/var/empty", "PGPASSWORD": "x", "PGPASSFILE": "/x", "PGSERVICEFILE": "/x",
            "PGUSER": "u",
            "HOLDFAST_SERVER_DATABASE": "postgresql://u:x@h/d", "HOLDFAST_SERVER_SECRET": "/x", "HOLDFAST_OTHER": "1",
        ]
        let names = Set(ProgramEnvironment.inherited(from: variables).keys)
        #expect(names == ["PATH", "HOME", "PGUSER", "HOLDFAST_OTHER"])
    }
}
