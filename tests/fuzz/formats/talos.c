/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/formats/results.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    return fuzz_results(METRIC_TALOS, bytes, n);
}
