#ifndef LATHE_DTYPES_BASE_CHECK_H_
#define LATHE_DTYPES_BASE_CHECK_H_

#include <sstream>

// LATHE_CHECK(cond) << "what is known";  aborts when an invariant of lathe itself is broken.
// Nothing a user does may reach one: errors of a user's program, text, file or machine are
// absl::Status.
#define LATHE_CHECK(condition)              \
  while (__builtin_expect(!(condition), 0)) \
  ::lathe::base::CheckFailure(__FILE__, __LINE__, #condition).stream()

#define LATHE_UNREACHABLE() \
  ::lathe::base::CheckFailure(__FILE__, __LINE__, "unreachable").AbortNow()

namespace lathe::base {

class CheckFailure {
 public:
  CheckFailure(const char* file, int line, const char* condition);
  [[noreturn]] ~CheckFailure();  // prints the message and aborts
  std::ostream& stream() { return message_; }
  [[noreturn]] void AbortNow();

 private:
  std::ostringstream message_;
};

}  // namespace lathe::base

#endif  // LATHE_DTYPES_BASE_CHECK_H_
