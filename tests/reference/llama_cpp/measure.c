/* What llama.cpp turns a query by: reads GGUF files without weights, one path a line, and prints one line of JSON each.

   The model is built by the library from the keys alone, its weights are small constants, and one token is decoded. Of
   each rotation in the graph the node's own parameters and factors are taken, and the identity matrix is turned by the
   library's kernel at position 1. Public API only. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"
#include "gguf.h"
#include "llama.h"

static struct ggml_context * converted; /* the tensors that the converter wrote */
static char used[3][64];
static int n_used, n_found;

static void silent(enum ggml_log_level level, const char * text, void * data) {
    (void) data;
    if (level == GGML_LOG_LEVEL_ERROR) { fputs(text, stderr); }
}

static void set_data(struct ggml_tensor * tensor, void * data) {
    (void) data;
    const int64_t n = ggml_nelements(tensor);
    struct ggml_tensor * given = ggml_get_tensor(converted, tensor->name);
    if (given != NULL && ggml_nelements(given) == n && given->type == GGML_TYPE_F32) {
        ggml_backend_tensor_set(tensor, given->data, 0, ggml_nbytes(tensor));
        snprintf(used[n_used < 3 ? n_used++ : 2], 64, "%s", tensor->name);
        return;
    }
    if (tensor->type != GGML_TYPE_F32) {
        void * zeros = calloc(1, ggml_nbytes(tensor));
        ggml_backend_tensor_set(tensor, zeros, 0, ggml_nbytes(tensor));
        free(zeros);
        return;
    }
    /* factors that were not written divide by 1, as a tensor that is not there does */
    const float value = strncmp(tensor->name, "rope_f", 6) == 0 ? 1.0f : 0.01f;
    float * values = malloc(n * sizeof(float));
    for (int64_t i = 0; i < n; i++) { values[i] = value; }
    ggml_backend_tensor_set(tensor, values, 0, ggml_nbytes(tensor));
    free(values);
}

static void print_rotation(const struct ggml_tensor * node) {
    const int64_t d = node->src[0]->ne[0];
    const int32_t * given = (const int32_t *) node->op_params;
    const int is_multi = (given[2] & GGML_ROPE_TYPE_MROPE) != 0;
    struct ggml_init_params params = { (size_t) 16 * d * d + (1 << 20), NULL, false };
    struct ggml_context * ctx = ggml_init(params);
    struct ggml_tensor * x = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, d, d, 1);
    struct ggml_tensor * pos = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, is_multi ? 4 : 1);
    struct ggml_tensor * factors = NULL;
    memset(x->data, 0, ggml_nbytes(x));
    for (int64_t i = 0; i < d; i++) { ((float *) x->data)[i * d + i] = 1.0f; }
    for (int i = 0; i < (is_multi ? 4 : 1); i++) { ((int32_t *) pos->data)[i] = 1; }
    if (node->src[2] != NULL) {
        factors = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, node->src[2]->ne[0]);
        ggml_backend_tensor_get(node->src[2], factors->data, 0, ggml_nbytes(factors));
    }
    int sections[4];
    memcpy(sections, given + 11, sizeof(sections));
    struct ggml_tensor * turned =
        is_multi ? ggml_rope_multi(ctx, x, pos, factors, given[1], sections, given[2], 0, 1, 1, 0, 1, 32, 1)
                 : ggml_rope_ext(ctx, x, pos, factors, given[1], given[2], 0, 1, 1, 0, 1, 32, 1);
    memcpy(turned->op_params, node->op_params, sizeof(node->op_params));
    struct ggml_cgraph * graph = ggml_new_graph(ctx);
    ggml_build_forward_expand(graph, turned);
    ggml_graph_compute_with_ctx(ctx, graph, 1);
    printf("%s{\"name\":\"%s\",\"width\":%d,\"entries\":[", n_found++ ? "," : "", node->name, (int) d);
    const float * out = turned->data;
    for (int64_t i = 0, n = 0; i < d * d; i++) {
        if (out[i] != 0.0f) { printf("%s[%d,%d,%.9g]", n++ ? "," : "", (int) (i / d), (int) (i % d), out[i]); }
    }
    printf("]}");
    ggml_free(ctx);
}

static bool look(struct ggml_tensor * node, bool ask, void * data) {
    (void) data;
    if (ask && node->op == GGML_OP_ROPE) { print_rotation(node); }
    return !ask;
}

static const char * measure(const char * path) {
    struct gguf_init_params params = { false, &converted };
    struct gguf_context * keys = gguf_init_from_file(path, params);
    if (keys == NULL) { return "the file is not read"; }
    struct llama_model_params mparams = llama_model_default_params();
    struct llama_model * model = llama_model_init_from_user(keys, set_data, NULL, mparams);
    if (model == NULL) { return "the model is not built"; }
    struct llama_context_params cparams = llama_context_default_params();
    cparams.n_ctx = 0; /* the length that the file states */
    cparams.n_batch = cparams.n_ubatch = 8;
    cparams.n_threads = cparams.n_threads_batch = 1;
    cparams.cb_eval = look;
    struct llama_context * ctx = llama_init_from_model(model, cparams);
    if (ctx == NULL) { return "the context is not built"; }
    llama_token tokens[2] = { 0, 1 };
    struct llama_batch batch = llama_batch_get_one(tokens, 2);
    const int failed = llama_model_has_encoder(model) ? llama_encode(ctx, batch) : llama_decode(ctx, batch);
    llama_free(ctx);
    llama_model_free(model);
    gguf_free(keys);
    return failed ? "the token is not decoded" : NULL;
}

int main(void) {
    char path[4096];
    llama_log_set(silent, NULL);
    llama_backend_init();
    while (fgets(path, sizeof(path), stdin) != NULL) {
        path[strcspn(path, "\n")] = 0;
        n_used = n_found = 0;
        printf("{\"path\":\"%s\",\"rotations\":[", path);
        const char * failed = measure(path);
        printf("],\"used\":[");
        for (int i = 0; i < n_used; i++) { printf("%s\"%s\"", i ? "," : "", used[i]); }
        printf("],\"failed\":%s%s%s}\n", failed ? "\"" : "", failed ? failed : "null", failed ? "\"" : "");
        fflush(stdout);
    }
    return 0;
}
