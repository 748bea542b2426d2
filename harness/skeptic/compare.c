/* SPDX-License-Identifier: MIT */
/* Two ends as texts, compared by the rule of end.h, and how they differ. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/cases.h"
#include "base/memory.h"
#include "base/reply.h"
#include "base/text.h"
#include "end.h"

/* Between the parts of a text that is compared, and around the name of a random token. */
#define FIELD '\x1f'
#define LINE '\x1e'
#define NAME '\x01'
#define LEFT '\x02'
#define SOURCES '\x03'

enum { NEAR_SECONDS = 86400 };
static bool is_random(const struct end_tokens *tokens, uint32_t token)
{
	return tokens->has_random && (token >= tokens->n_fixed || !tokens->is_fixed[token]);
}

/* The other operations whose random tokens one had received before it sent a token, as bits. */
static unsigned sources_of(const struct end_tokens *tokens, const struct end *end,
			   const struct end_token *of)
{
	unsigned sources = 0;

	for (size_t i = 0; i < end->n_received; i++) {
		const struct end_received *received = &end->received[i];
		const struct end_token *source;

		if (received->operation != of->operation || received->event >= of->first_sent ||
		    !is_random(tokens, received->token))
			continue;
		source = end_find_token(end, received->token);
		if (source && source->operation != of->operation)
			sources |= 1U << source->operation;
	}
	return sources;
}

/* A text in which random tokens have names: the so manieth of its operation that is left, and what it
 * may follow from. */
static void write_renamed(FILE *out, const struct end_tokens *tokens, const struct end *end,
			  const char *text, size_t n)
{
	for (size_t at = 0; at < n;) {
		const size_t length = end_token_length(text + at, n - at);
		const uint32_t token = length ? rr_intern_find(&tokens->all, text + at, length) :
						RR_NO_ID;

		if (token != RR_NO_ID && is_random(tokens, token)) {
			const struct end_token *own = end_find_token(end, token);
			unsigned ordinal = 0;

			for (const struct end_token *other = end->tokens; own && other < own;
			     other++)
				ordinal += other->operation == own->operation && other->is_left &&
					   is_random(tokens, other->token);
			fprintf(out, "%c%d.%u%c%u%c", NAME, own ? own->operation : -1, ordinal,
				SOURCES, own ? sources_of(tokens, end, own) : 0, NAME);
		} else {
			fwrite(text + at, 1, length ? length : 1, out);
		}
		at += length ? length : 1;
	}
}

/* ---- Texts that are compared ---------------------------------------------------------------- */

struct piece {
	char *text;
	size_t length;
};

static int compare_pieces(const void *a, const void *b)
{
	const struct piece *one = a, *other = b;

	return rr_compare_bytes(one->text, one->length, other->text, other->length);
}

/* The value of a key, renamed; what has no order is sorted after that. */
static void write_value(FILE *out, const struct end_tokens *tokens, const struct end *end,
			const struct rdl_reply *of)
{
	const struct rdl_reply *value = &of[OF_VALUE];
	const char kind = of[OF_TYPE].text[0];
	const bool is_sorted_set = kind == 'z', is_hash = kind == 'h';
	const bool is_sorted = is_hash || is_sorted_set || strcmp(of[OF_TYPE].text, "set") == 0;
	const size_t width = is_hash || is_sorted_set ? 2 : 1;
	const size_t n = value->length / width;
	struct piece *pieces = rr_calloc(n + 1, sizeof(*pieces));

	for (size_t i = 0; i < n; i++) {
		const struct rdl_reply *first = &value->elements[i * width];
		FILE *piece = rr_open_memory(&pieces[i].text, &pieces[i].length);

		/* Of equal scores by the member; of others by their place. */
		if (is_sorted_set) {
			size_t rank = i;

			while (rank > 0 &&
			       strcmp(value->elements[(rank - 1) * 2 + 1].text, first[1].text) == 0)
				rank--;
			fprintf(piece, "%09zu%c", rank, FIELD);
		}
		for (size_t j = 0; j < width; j++) {
			write_renamed(piece, tokens, end, first[j].text, first[j].length);
			fputc(FIELD, piece);
		}
		fclose(piece);
	}
	if (is_sorted)
		qsort(pieces, n, sizeof(*pieces), compare_pieces);
	for (size_t i = 0; i < n; i++) {
		fwrite(pieces[i].text, 1, pieces[i].length, out);
		free(pieces[i].text);
	}
	free(pieces);
}

/* A key; what it has left, and how it was given that, if it expires. */
static struct piece key_of(const struct drive *drive, const struct end_tokens *tokens,
			   const struct end *end, const struct rdl_reply *of, long long left)
{
	const uint32_t key = end_key_number(drive, of);
	struct piece piece;
	size_t i = 0;
	FILE *out = rr_open_memory(&piece.text, &piece.length);

	fprintf(out, "db%lld%c", of[OF_DATABASE].integer, FIELD);
	write_renamed(out, tokens, end, of[OF_KEY].text, of[OF_KEY].length);
	fprintf(out, "%c%s%c", FIELD, of[OF_TYPE].text, FIELD);
	write_value(out, tokens, end, of);
	while (i < end->n_given && end->given[i].key != key)
		i++;
	if (left >= 0)
		fprintf(out, "%c%lld%c", LEFT, left, FIELD);
	if (left >= 0 && i < end->n_given)
		fprintf(out, "%u in %lld%c%lld", end->given[i].command,
			(long long)(end->given[i].ns / 1000000), FIELD,
			(long long)(end->given[i].left_ns / 1000000));
	fclose(out);
	return piece;
}

static const struct rdl_reply *find_key(const struct drive *drive, uint32_t data, uint32_t key)
{
	const struct rdl_reply *all = &drive->terms->reply[data].reply;

	for (size_t i = 0; i < all->length; i++) {
		if (end_key_number(drive, all->elements[i].elements) == key)
			return all->elements[i].elements;
	}
	return NULL;
}

/* All keys that count, renamed and then sorted; with nothing left, those that have expired, if they
 * have not in the `other` end (NULL: none of these). */
static struct piece data_of(const struct drive *drive, const struct end_tokens *tokens,
			    const struct end *end, const struct end *other)
{
	const struct rdl_reply *all = &drive->terms->reply[end->data].reply;
	struct piece *pieces = rr_calloc(all->length + end->n_given + 1, sizeof(*pieces));
	struct piece whole;
	size_t n = 0;
	FILE *out;

	for (size_t i = 0; i < all->length; i++) {
		const struct rdl_reply *of = all->elements[i].elements;

		if (!of[OF_IGNORED].integer)
			pieces[n++] = key_of(drive, tokens, end, of, of[OF_LEFT].integer);
	}
	for (size_t i = 0; i < end->n_given && other; i++) {
		const struct given *given = &end->given[i];
		const struct rdl_reply *of;

		if (given->last == RR_NO_ID || find_key(drive, end->data, given->key) ||
		    end_expiry_ns(drive, other->data, given->key) == RR_NEVER)
			continue;
		of = find_key(drive, given->last, given->key);
		if (!of[OF_IGNORED].integer)
			pieces[n++] = key_of(drive, tokens, end, of, 0);
	}
	qsort(pieces, n, sizeof(*pieces), compare_pieces);
	out = rr_open_memory(&whole.text, &whole.length);
	for (size_t i = 0; i < n; i++) {
		fwrite(pieces[i].text, 1, pieces[i].length, out);
		fputc(LINE, out);
		free(pieces[i].text);
	}
	fclose(out);
	free(pieces);
	return whole;
}

/* Rule 4. */
static void sort_lines(struct piece *piece)
{
	struct piece *lines = NULL;
	struct piece sorted;
	size_t n = 0;
	FILE *out = rr_open_memory(&sorted.text, &sorted.length);

	for (size_t at = 0; at < piece->length; at += lines[n - 1].length + 1) {
		char *line = piece->text + at;
		const char *end = memchr(line, '\n', piece->length - at);

		rr_array_grow(&lines, n, sizeof(*lines));
		lines[n++] = (struct piece){ line,
					     end ? (size_t)(end - line) : piece->length - at };
	}
	if (n > 0)
		qsort(lines, n, sizeof(*lines), compare_pieces);
	for (size_t i = 0; i < n; i++) {
		fwrite(lines[i].text, 1, lines[i].length, out);
		fputc('\n', out);
	}
	fclose(out);
	free(lines);
	free(piece->text);
	*piece = sorted;
}

static struct piece output_of(const struct end_tokens *tokens, const struct end *end,
			      size_t operation)
{
	const struct ended *ended = &end->operations[operation];
	struct piece piece;
	FILE *out = rr_open_memory(&piece.text, &piece.length);

	write_renamed(out, tokens, end, ended->output, ended->n_output);
	fclose(out);
	if (tokens->sorts_lines)
		sort_lines(&piece);
	return piece;
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static bool is_number(const char *text, size_t length, long long *number)
{
	*number = 0;
	for (size_t i = 0; i < length; i++) {
		if (!isdigit((unsigned char)text[i]))
			return false;
		*number = *number * 10 + (text[i] - '0');
	}
	return length > 0 && length < 20;
}

/* Nanoseconds of a unit in which so many digits are a time of day; 0 = none. */
static int64_t unit_of(size_t digits)
{
	return digits == 10 ? INT64_C(1000000000) :
	       digits == 13 ? 1000000 :
	       digits == 16 ? 1000 :
	       digits == 19 ? 1 :
			      0;
}

static bool is_near(long long number, int64_t unit_ns)
{
	const int64_t day = RR_CLUSTER_START_NS / unit_ns;
	const int64_t near = NEAR_SECONDS * (INT64_C(1000000000) / unit_ns);

	return number > day - near && number < day + near;
}

/* Two numbers that differ: are they times that differ by no more than clocks have moved? */
static bool are_times(const char *a, size_t n_a, const char *b, size_t n_b, int64_t moved_ns)
{
	long long one, other;
	int64_t unit_ns;

	if (!is_number(a, n_a, &one) || !is_number(b, n_b, &other) || moved_ns == 0)
		return false;
	unit_ns = n_a == n_b ? unit_of(n_a) : 0;
	if (!unit_ns || !is_near(one, unit_ns) || !is_near(other, unit_ns))
		return false;
	return llabs(one - other) <= moved_ns / unit_ns + 1;
}

static enum end_difference worse(enum end_difference a, enum end_difference b)
{
	return a > b ? a : b;
}

/* Of a token or the name of one. */
static size_t unit_length(const char *text, size_t n)
{
	const char *end = n > 1 && text[0] == NAME ? memchr(text + 1, NAME, n - 1) : NULL;

	return end ? (size_t)(end - text) + 1 : end_token_length(text, n);
}

/* Without what it may follow from. */
static size_t name_length(const char *name)
{
	return strcspn(name, (char[]){ SOURCES, '\0' });
}

/* Was it given by the same command, and was the same left when that command's operation ended? Times
 * are whole milliseconds of a server. */
static bool are_alike_given(const char *a, size_t n, const char *b, size_t n_other)
{
	const char *left = memrchr(a, FIELD, n), *other_left = memrchr(b, FIELD, n_other);

	return left - a == other_left - b && memcmp(a, b, (size_t)(left - a)) == 0 &&
	       llabs(strtoll(left + 1, NULL, 10) - strtoll(other_left + 1, NULL, 10)) <= 1;
}

/* Rule 5, of the texts of key_of(): `i` and `j` are behind what is left, and come to the end of the
 * line. */
static enum end_difference compare_left(const struct piece *a, const struct piece *b, size_t *i,
					size_t *j, int64_t moved_ns)
{
	const char *one = a->text + *i, *other = b->text + *j;
	const char *end = memchr(one, LINE, a->length - *i),
		   *to = memchr(other, LINE, b->length - *j);
	const size_t n = (size_t)(end - one), n_other = (size_t)(to - other);
	const long long left = strtoll(memrchr(a->text, LEFT, *i) + 1, NULL, 10);
	const long long other_left = strtoll(memrchr(b->text, LEFT, *j) + 1, NULL, 10);

	*i += n;
	*j += n_other;
	if (left == other_left)
		return END_SAME;
	if (moved_ns == 0 || llabs(left - other_left) > moved_ns / 1000000 + 1)
		return END_DIFFERENT;
	/* One byte: nobody knows. */
	return n > 1 && are_alike_given(one, n, other, n_other) ? END_SAME : END_TIMES;
}

static enum end_difference compare_texts(struct piece a, struct piece b, int64_t moved_ns)
{
	enum end_difference found = END_SAME;
	bool was_time = false; /* the token before: behind it its fraction may come */
	size_t i = 0, j = 0;

	while (i < a.length && j < b.length && found < END_DIFFERENT) {
		const char *one = a.text + i, *other = b.text + j;
		const size_t n_one = unit_length(one, a.length - i);
		const size_t n_other = unit_length(other, b.length - j);
		const bool are_left = i > 0 && one[-1] == LEFT;
		const bool is_fraction = was_time && i > 0 && one[-1] == '.';
		long long number;

		if (!n_one || !n_other) {
			if (n_one || n_other || *one != *other)
				return END_DIFFERENT;
			was_time &= *one == '.';
			i++;
			j++;
			continue;
		}
		i += n_one;
		j += n_other;
		if (are_left) {
			found = worse(found, compare_left(&a, &b, &i, &j, moved_ns));
			was_time = false;
		} else if (n_one == n_other && memcmp(one, other, n_one) == 0)
			was_time = is_number(one, n_one, &number) && unit_of(n_one) &&
				   is_near(number, unit_of(n_one));
		else if ((*one == NAME) != (*other == NAME) ||
			 (*one == NAME && name_length(one) == name_length(other) &&
			  memcmp(one, other, name_length(one)) == 0))
			found = worse(found, END_AMBIGUOUS);
		else if ((was_time = are_times(one, n_one, other, n_other, moved_ns)) ||
			 (is_fraction && moved_ns && is_number(one, n_one, &number) &&
			  is_number(other, n_other, &number)))
			found = worse(found, END_TIMES);
		else
			found = END_DIFFERENT;
	}
	return i < a.length || j < b.length ? END_DIFFERENT : found;
}

static size_t count_lines(const struct ended *ended)
{
	size_t n = 0;

	for (size_t i = 0; i < ended->n_output; i++)
		n += ended->output[i] == '\n';
	return n;
}

static enum end_difference compare_operation(const struct drive *drive,
					     const struct end_tokens *tokens,
					     const struct end *found, const struct end *serial,
					     size_t operation, int64_t moved_ns, char **note)
{
	const struct ended *one = &found->operations[operation];
	const struct ended *other = &serial->operations[operation];
	struct piece a, b;
	enum end_difference difference;

	if (one->has_ended != other->has_ended || one->status != other->status ||
	    one->http != other->http)
		return END_DIFFERENT;
	a = output_of(tokens, found, operation);
	b = output_of(tokens, serial, operation);
	difference = compare_texts(a, b, moved_ns);
	free(a.text);
	free(b.text);
	if (difference == END_SAME)
		return END_SAME;
	if (one->has_waited && (one->history == other->history ||
				(tokens->has_random && one->shape == other->shape))) {
		free(*note);
		*note = rr_asprintf("the output of %s, which has waited and otherwise done and "
				    "received the same",
				    drive->config->parties.names[operation]);
		return END_SAME;
	}
	/* Lines more than there: they may have been printed in rounds that are left out. */
	if ((one->is_cut || one->has_waited) && one->prints_late &&
	    count_lines(one) > count_lines(other))
		return END_AMBIGUOUS;
	return difference;
}

uint32_t end_absent(const struct end *end, bool is_strict)
{
	uint32_t absent = 0;

	for (size_t i = 0; i < end->n_operations; i++) {
		const struct ended *ended = &end->operations[i];

		const bool is_refused = !is_strict && !ended->has_changed &&
					!WIFSIGNALED(ended->status);

		absent |= ended->has_ended && !ended->is_good &&
					  (ended->is_declared || is_refused) ?
				  1U << i :
				  0;
	}
	return absent;
}

static enum end_difference compare_data(const struct drive *drive, const struct end_tokens *tokens,
					const struct end *found, const struct end *serial,
					int64_t moved_ns, bool with_expired)
{
	struct piece a = data_of(drive, tokens, found, with_expired ? serial : NULL);
	struct piece b = data_of(drive, tokens, serial, with_expired ? found : NULL);
	const enum end_difference difference = compare_texts(a, b, moved_ns);

	free(a.text);
	free(b.text);
	return difference;
}

static enum end_difference compare_ends(const struct drive *drive, const struct end_tokens *tokens,
					const struct end *found, const struct end *serial,
					char **note)
{
	const int64_t moved_ns = found->moved_ns > serial->moved_ns ? found->moved_ns :
								      serial->moved_ns;
	const uint32_t absent = end_absent(found, drive->config->strict_exits);
	enum end_difference difference;

	if (found->functions != serial->functions || found->ran & ~(serial->ran | absent))
		return END_DIFFERENT;
	difference = compare_data(drive, tokens, found, serial, moved_ns, false);
	if (difference == END_DIFFERENT &&
	    compare_data(drive, tokens, found, serial, moved_ns, true) == END_SAME)
		difference = END_SAME;
	for (size_t i = 0; i < found->n_operations && difference < END_DIFFERENT; i++) {
		if (serial->ran >> i & 1 && !drive->config->data_only)
			difference = worse(difference,
					   compare_operation(drive, tokens, found, serial, i,
							     moved_ns, note));
	}
	return difference;
}

/* Clients draw the same in each run, as far as that is controlled: then nothing has to be renamed, in
 * which texts that are equal may become different ones. */
enum end_difference end_compare(const struct drive *drive, const struct end_tokens *tokens,
				const struct end *found, const struct end *serial, char **note)
{
	struct end_tokens as_they_are = *tokens;
	char *what = NULL;

	as_they_are.has_random = false;
	if (tokens->has_random &&
	    compare_ends(drive, &as_they_are, found, serial, &what) == END_SAME) {
		free(*note);
		*note = what;
		return END_SAME;
	}
	free(what);
	return compare_ends(drive, tokens, found, serial, note);
}

/* ---- For people ---------------------------------------------------------------------------------- */

enum { KEYS_NAMED = 8 };

static void print_key(FILE *out, const struct rdl_reply *of)
{
	if (of[OF_DATABASE].integer)
		fprintf(out, "db %lld: ", of[OF_DATABASE].integer);
	rr_write_bare_word(out, of[OF_KEY].text, of[OF_KEY].length);
}

static void print_data(FILE *out, const struct drive *drive, const struct end *end)
{
	const struct rdl_reply *all = &drive->terms->reply[end->data].reply;

	for (size_t i = 0; i < all->length; i++) {
		const struct rdl_reply *of = all->elements[i].elements;

		if (of[OF_IGNORED].integer)
			continue;
		print_key(out, of);
		fputs(" = ", out);
		rr_write_reply(out, strcmp(of[OF_TYPE].text, "string") == 0 ?
					    &of[OF_VALUE].elements[0] :
					    &of[OF_VALUE]);
		if (of[OF_LEFT].integer >= 0)
			fprintf(out, ", for %lld ms", of[OF_LEFT].integer);
		fputc('\n', out);
	}
	if (all->length == 0)
		fputs("no keys\n", out);
}

/* Prints, a line each, the keys of an end that another end lacks, and with `values` those that have
 * another value there. */
static void print_keys(FILE *out, const struct drive *drive, const struct end *end,
		       const struct end *other, bool values)
{
	const struct rdl_reply all = drive->terms->reply[end->data].reply;

	for (size_t i = 0; i < all.length; i++) {
		const struct rdl_reply *of = all.elements[i].elements;
		const struct rdl_reply *there = find_key(drive, other->data,
							 end_key_number(drive, of));

		if (of[OF_IGNORED].integer ||
		    (there && (!values || (strcmp(there[OF_TYPE].text, of[OF_TYPE].text) == 0 &&
					   rr_terms_reply(drive->terms, &there[OF_VALUE]) ==
						   rr_terms_reply(drive->terms, &of[OF_VALUE])))))
			continue;
		print_key(out, of);
		fputc('\n', out);
	}
}

json_t *end_keys(const struct drive *drive, const struct end *found, const struct end *serial)
{
	char *text;
	FILE *out = rr_open_text(&text);
	json_t *keys;

	print_keys(out, drive, found, serial, true);
	print_keys(out, drive, serial, found, false);
	fclose(out);
	keys = rr_case_lines(text);
	while (json_array_size(keys) > KEYS_NAMED)
		json_array_remove(keys, KEYS_NAMED);
	free(text);
	return keys;
}

json_t *end_json(const struct drive *drive, const struct end *end)
{
	const struct rr_skeptic_parties *parties = &drive->config->parties;
	json_t *endings = json_array();
	char *data;
	FILE *out = rr_open_text(&data);
	json_t *json;

	print_data(out, drive, end);
	fclose(out);
	for (size_t i = 0; i < end->n_operations; i++) {
		const struct ended *ended = &end->operations[i];
		const bool is_request = i < parties->program->requests.n;
		char *name = is_request ? rr_asprintf("request%zu", i + 1) :
					  rr_strdup(parties->names[i]);

		json_array_append_new(endings,
				      rr_case_ending(&(struct rr_case_ending){
					      .client = name,
					      .status = end->ran >> i & 1 && ended->has_ended ?
								ended->status :
								-1,
					      .http = ended->http,
					      .output = ended->n_output ? ended->output : "",
					      .length = ended->n_output }));
		free(name);
	}
	json = json_pack("{s:o, s:o}", "data", rr_case_lines(data), "endings", endings);
	free(data);
	return json;
}

char *end_text(const struct drive *drive, const struct end *end)
{
	char *text;
	FILE *out = rr_open_text(&text);

	print_data(out, drive, end);
	for (size_t i = 0; i < end->n_operations; i++) {
		const struct ended *ended = &end->operations[i];
		char *plain = rr_plain_bytes(ended->output,
					     ended->n_output < 200 ? ended->n_output : 200);

		fputs(drive->config->parties.names[i], out);
		if (!(end->ran >> i & 1))
			fputs(" did not run\n", out);
		else if (!ended->has_ended)
			fputs(" has not ended\n", out);
		else
			fprintf(out, " ended with status %d%s%s\n", WEXITSTATUS(ended->status),
				ended->n_output ? ": " : "", plain);
		free(plain);
	}
	fclose(out);
	return text;
}
