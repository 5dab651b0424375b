#if Hummingbird
import Hummingbird
import HummingbirdTLS
#endif
