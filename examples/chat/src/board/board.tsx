import { useStore } from '@postroom/client/react';
import { type DragEvent, type FormEvent, type RefObject, useLayoutEffect, useMemo, useRef } from 'react';
import { useChat } from '../chat.ts';
import { IconButton, Problem } from '../components/ui.tsx';
import { useAction } from '../failures.ts';
import { type Column, findPlace, toColumns, type Way, ways } from './columns.ts';
import { type Place, type Task, taskStore } from './tasks.ts';
import './board.css';

/** How members change the board. */
interface Moves {
  move: (task: Task, place: Place) => void;
  /** The task that is dragged, or was dragged last. */
  dragged: RefObject<Task | undefined>;
  /** The button that was pressed last. */
  pressed: RefObject<{ task: Task; way: Way } | undefined>;
}

/** The tasks of a room in columns. Members move them with the buttons of each task, or drag them. */
export default function Board({ room, isMember }: { room: string; isMember: boolean }) {
  const { client } = useChat();
  const store = useMemo(() => taskStore(client, room), [client, room]);
  const { tasks, failure } = useStore(store);
  const { run: move, failure: refusal } = useAction(store.move);
  const moves: Moves = { move, dragged: useRef(undefined), pressed: useRef(undefined) };
  useFocusOfMoved(moves, tasks);
  const columns = toColumns(tasks ?? []);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it.
    <section className="board" aria-label="Board" aria-busy={!tasks} tabIndex={0}>
      {isMember && <NewTask onAdd={store.add} />}
      {refusal?.code === 'CONFLICT' ? (
        <p role="alert">The task was not moved, because the board has changed meanwhile. Please look, and try again.</p>
      ) : (
        <Problem failure={refusal ?? failure} />
      )}
      <div className="columns">
        {columns.map(({ name, tasks: listed }) => (
          <section key={name} aria-label={name} {...(isMember && targetOf(moves, { column: name }))}>
            <h2 dir="auto">
              {name} <small>{listed.length}</small>
            </h2>
            <ol>
              {listed.map((task) =>
                isMember ? (
                  <MovableTask key={task.id} task={task} columns={columns} moves={moves} />
                ) : (
                  <li key={task.id}>{task.title}</li>
                ),
              )}
            </ol>
          </section>
        ))}
      </div>
    </section>
  );
}

function NewTask({ onAdd }: { onAdd: (title: string) => Promise<void> }) {
  const add = useAction(async (form: HTMLFormElement) => {
    await onAdd(String(new FormData(form).get('title')));
    form.reset();
  });
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (!add.isRunning) add.run(event.currentTarget);
  }
  return (
    <form onSubmit={submit}>
      <input name="title" aria-label="New task" placeholder="New task" required maxLength={200} autoComplete="off" />
      <button type="submit">Add</button>
      <Problem failure={add.failure} />
    </form>
  );
}

function MovableTask({ task, columns, moves }: { task: Task; columns: readonly Column[]; moves: Moves }) {
  const { id, column, title } = task;
  const toButton = (way: Way) => {
    const place = findPlace(columns, task, way);
    function press() {
      if (!place) return;
      moves.pressed.current = { task, way };
      moves.move(task, place);
    }
    const target = place && place.column !== column ? `to ${place.column}` : way;
    // With aria-disabled it keeps the focus, unlike a button that is disabled.
    const state = { 'data-way': way, 'aria-disabled': !place };
    return <IconButton key={way} icon="down" label={`Move ${title} ${target}`} onClick={press} {...state} />;
  };
  return (
    <li
      id={id}
      draggable
      onDragStart={({ dataTransfer }) => {
        dataTransfer.setData('text/plain', title);
        moves.dragged.current = task;
      }}
      {...targetOf(moves, { column, before: id })}
    >
      <p dir="auto">{title}</p>
      <footer>{ways.map(toButton)}</footer>
    </li>
  );
}

/** A task is dropped on another one, or on the column after its tasks. */
function targetOf({ move, dragged }: Moves, place: Place) {
  return {
    onDragOver: (event: DragEvent) => event.preventDefault(),
    onDrop: (event: DragEvent) => {
      event.preventDefault();
      event.stopPropagation();
      const { current: task } = dragged;
      if (task && task.id !== place.before) move(task, place);
    },
  };
}

/** A task that is moved is rendered anew, so its button loses the focus: the button of the same way receives it. */
function useFocusOfMoved({ pressed }: Moves, tasks: readonly Task[] | undefined): void {
  useLayoutEffect(() => {
    const { task, way } = pressed.current ?? {};
    if (!task || !tasks?.some(({ id, version }) => id === task.id && version > task.version)) return;
    pressed.current = undefined;
    if (document.activeElement !== document.body) return;
    document.getElementById(task.id)?.querySelector<HTMLElement>(`[data-way=${way}]`)?.focus();
  }, [tasks, pressed]);
}
