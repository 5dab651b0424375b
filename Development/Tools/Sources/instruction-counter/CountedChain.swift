import Foundation

/// A chain whose bytes never change, so that the work of its evaluation does not change either: P-256 throughout, made
/// once with openssl, its private keys deleted. It is validated at a fixed time and does not expire.
enum CountedChain {
    static let host = "www.example.com"
    /// Unix seconds within the validity of all three.
    static let time = 1_800_000_000.0

    /// DER of leaf, issuing authority and root.
    static func path() throws -> [[UInt8]] {
        try [leaf, issuing, root].map { text in
            guard let data = Data(base64Encoded: text) else { throw CocoaError(.coderInvalidValue) }
            return Array(data)
        }
    }

    private static let leaf = """
        MIICCjCCAbCgAwIBAgIQPzpcfpstT2BxgpOktcbX6DAKBggqhkjOPQQDAjA9MQswCQYDVQQGEwJERTERMA8GA1UECgwISG9sZGZhc3QxGzAZ\
        BgNVBAMMEkNvdW50ZWQgSXNzdWluZyBDQTAeFw0yNjExMjExMjEwMzJaFw0zNjExMTgxMjEwMzJaMBoxGDAWBgNVBAMMD3d3dy5leGFtcGxl\
        LmNvbTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABMVYcN9/1+yPEpU5bD7MUxEV/3Ct2Qt+DEe4tweaNwK8wKJwb1By0pdAYnPA73c1CvxA\
        yoQk3QlGisTdrsWC+r+jgbQwgbEwDAYDVR0TAQH/BAIwADAOBgNVHQ8BAf8EBAMCB4AwEwYDVR0lBAwwCgYIKwYBBQUHAwEwHQYDVR0OBBYE\
        FPI6AoIO9mjmG9g8Jyx1OVKP1Xh3MB8GA1UdIwQYMBaAFKO9eFoDBWkFBDG084AJAQ1hUd5GMBMGA1UdIAQMMAowCAYGZ4EMAQIBMCcGA1Ud\
        EQQgMB6CD3d3dy5leGFtcGxlLmNvbYILZXhhbXBsZS5jb20wCgYIKoZIzj0EAwIDSAAwRQIgK5J4p5AgqHeEX6B8zR9dozXw1KNQgj3+0PyK\
        DOsQ3bMCIQDjJOOA41GilYaFVqXUwCOeYFfP1VOBeiyGMtOBO4bkIQ==
        """

    private static let issuing = """
        MIICDjCCAbSgAwIBAgIQLzpcfpstT2BxgpOktcbX6DAKBggqhkjOPQQDAjA3MQswCQYDVQQGEwJERTERMA8GA1UECgwISG9sZGZhc3QxFTAT\
        BgNVBAMMDENvdW50ZWQgUm9vdDAeFw0yNjExMjExMjEwMzJaFw0zNjExMTgxMjEwMzJaMD0xCzAJBgNVBAYTAkRFMREwDwYDVQQKDAhIb2xk\
        ZmFzdDEbMBkGA1UEAwwSQ291bnRlZCBJc3N1aW5nIENBMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEuXFEEub/dBfpxasDnDKUU/+mthVC\
        6ig0ffmqQA4rEwibuq0wkH42tMFBYUVQTvB6xrYRCTbk+UBDyrt2KFyF06OBmzCBmDASBgNVHRMBAf8ECDAGAQH/AgEAMA4GA1UdDwEB/wQE\
        AwIBBjAdBgNVHSUEFjAUBggrBgEFBQcDAQYIKwYBBQUHAwIwHQYDVR0OBBYEFKO9eFoDBWkFBDG084AJAQ1hUd5GMB8GA1UdIwQYMBaAFH3P\
        BJU/3UN/OuC0R83AWq6CZST+MBMGA1UdIAQMMAowCAYGZ4EMAQIBMAoGCCqGSM49BAMCA0gAMEUCIQDDSjMwNJ4zYfm1ZSojPw6g7FTyytaF\
        JNWmkffr5YwzHgIgErFoqE9t3XTAylgqtasL1KvWB+L3LpGtlL68U75SmOs=
        """

    private static let root = """
        MIIBrTCCAVSgAwIBAgIQHzpcfpstT2BxgpOktcbX6DAKBggqhkjOPQQDAjA3MQswCQYDVQQGEwJERTERMA8GA1UECgwISG9sZGZhc3QxFTAT\
        BgNVBAMMDENvdW50ZWQgUm9vdDAeFw0yNjExMjExMjEwMzJaFw0zNjExMTgxMjEwMzJaMDcxCzAJBgNVBAYTAkRFMREwDwYDVQQKDAhIb2xk\
        ZmFzdDEVMBMGA1UEAwwMQ291bnRlZCBSb290MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEyO9A8Xc1EBh2Vp2g9pqOXdOYKxdw3jOCKbZd\
        56MPlnTFEsjre2trxS2+YKaBJ1VoRXIOhAryi9Ab7Fpjhf3iuKNCMEAwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAQYwHQYDVR0O\
        BBYEFH3PBJU/3UN/OuC0R83AWq6CZST+MAoGCCqGSM49BAMCA0cAMEQCIGQ7MS5aHjCS8ovwCXfxyDgOP6eiv8bz43R3Lff6xh0GAiA6+fNF\
        8Tn11Y6YSBhKgH+f/mFHZiYaM+yRMlUOQ1LfPA==
        """
}
