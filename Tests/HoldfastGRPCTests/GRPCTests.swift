#if GRPC
import GRPCCore
import GRPCNIOTransportHTTP2Posix
#endif
