/* SPDX-License-Identifier: MIT */
/* A run's threads: fibers on stacks that are used again. */
#include <stdlib.h>

#include "base/memory.h"
#include "run.h"

/* ---- Stacks --------------------------------------------------------------- */

static void live(void *argument);

static struct rr_stack *take_stack(struct rr_stacks *stacks)
{
	struct rr_stack *stack = stacks->free;

	if (stack) {
		stacks->free = stack->next;
		return stack;
	}
	stack = rr_calloc(1, sizeof(*stack));
	if (rr_fiber_make(&stack->fiber, live, stack))
		return stack;
	free(stack);
	return NULL;
}

void rr_stacks_release(struct rr_stacks *stacks)
{
	while (stacks->free) {
		struct rr_stack *stack = stacks->free;

		stacks->free = stack->next;
		rr_fiber_release(&stack->fiber);
		free(stack);
	}
}

/* ---- Stopping and going on ------------------------------------------------ */

static struct rr_stop *stop_of(const struct run_thread *thread)
{
	return &thread->run->view.stops[thread->number];
}

/* Who goes on when a thread has stopped. */
static struct rr_fiber *next_after(struct run_thread *thread)
{
	struct run_thread *opener = thread->opener;

	thread->opener = NULL;
	return opener ? &opener->stack->fiber : &thread->run->caller;
}

const struct rr_input *run_stop(struct run_thread *thread, struct rr_stop where)
{
	if (thread->run->is_dead)
		return NULL;
	run_take_sent(thread);
	*stop_of(thread) = where;
	rr_fiber_pass(&thread->stack->fiber, next_after(thread));
	return thread->run->is_dead ? NULL : &thread->input;
}

/* One routine after another, on the same stack. */
static void live(void *argument)
{
	struct rr_stack *stack = argument;

	for (;;) {
		struct run_thread *thread = stack->thread;

		if (thread->task)
			thread->task->body(thread->task->argument);
		else
			thread->run->program->run(thread->run->made);
		run_take_sent(thread);
		*stop_of(thread) = (struct rr_stop){ .kind = RR_STOP_ENDED };
		if (thread->number == 0)
			thread->run->view.is_holding = false;
		rr_fiber_pass(&stack->fiber, next_after(thread));
	}
}

bool run_begin_thread(struct run_thread *thread)
{
	thread->stack = take_stack(thread->run->program->stacks);
	if (!thread->stack)
		return false;
	thread->stack->thread = thread;
	return true;
}

void run_go_on(struct run_thread *thread)
{
	rr_fiber_pass(&thread->run->caller, &thread->stack->fiber);
}

/* ---- Threads beside the client -------------------------------------------- */

static struct run_thread *free_thread(struct rr_client_run *run)
{
	for (uint8_t i = 1; i < RR_RUN_THREADS; i++) {
		struct run_thread *thread = &run->threads[i];
		const uint8_t kind = run->view.stops[i].kind;

		if ((kind == RR_STOP_ABSENT || kind == RR_STOP_ENDED) && !thread->task)
			return thread;
	}
	run->view.is_too_much = true;
	return NULL;
}

void run_give_stack_back(struct run_thread *thread)
{
	struct rr_stacks *stacks = thread->run->program->stacks;

	if (!thread->stack)
		return;
	thread->stack->next = stacks->free;
	stacks->free = thread->stack;
	thread->stack = NULL;
}

bool run_on_spawn(void *context, struct rdl_task *task)
{
	struct run_thread *parent = context;
	struct rr_client_run *run = parent->run;
	struct run_thread *child = run->is_dead ? NULL : free_thread(run);

	if (!child)
		return false;
	run_give_stack_back(child);
	if (!run_begin_thread(child))
		return false;
	child->task = task;
	child->opener = parent;
	if (run->view.n_threads <= child->number)
		run->view.n_threads = child->number + 1;
	rdl_link_set_driver(task->link, &child->driver);
	rr_fiber_pass(&parent->stack->fiber, &child->stack->fiber);
	return true;
}

/* A child that is unwound has ended before: see rr_client_run_free(). */
void run_on_join(void *context, struct rdl_task *task)
{
	struct run_thread *thread = context;
	struct rr_client_run *run = thread->run;

	for (uint8_t i = 1; i < RR_RUN_THREADS; i++) {
		struct run_thread *child = &run->threads[i];

		if (child->task != task)
			continue;
		if (run->view.stops[i].kind != RR_STOP_ENDED)
			run_stop(thread, (struct rr_stop){ .kind = RR_STOP_JOIN, .whom = i });
		child->task = NULL;
		run->view.stops[i] = (struct rr_stop){ .kind = RR_STOP_ABSENT };
		rdl_link_set_driver(task->link, &run->threads[0].driver);
		return;
	}
}
