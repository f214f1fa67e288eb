import { setTimeout as wait } from 'node:timers/promises';
import { type Fault, faults, type Scene } from './faults.ts';

const maxStepMs = 60;
const maxSteps = 15;
const maxAttempts = 50;
const retryMs = 100;
const kinds = Object.entries(faults).map(([name, kind]) => ({ name, ...kind }));

interface Active {
  name: string;
  fault: Fault;
  begun: Promise<unknown>;
  /** The step at which it ends. */
  until: number;
  ended?: Promise<void>;
}

/** Injects faults at random. */
export class Chaos {
  readonly #scene: Scene;
  /** By the part. */
  readonly #active = new Map<string, Active>();
  #step = 0;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  /**
   * Each step begins one fault, and ends those that have lasted long enough. Each run leaves out some kinds of faults,
   * because frequent faults hide what rare ones do.
   */
  async run(steps: number): Promise<void> {
    const used = kinds.filter(({ name }) => name === 'nothing' || this.#scene.choose.chance(0.6));
    for (let step = 0; step < steps; step += 1) {
      this.#step += 1;
      this.#begin(used);
      for (const active of this.#active.values()) if (active.until <= this.#step) void this.#end(active);
      await wait(this.#scene.choose.below(maxStepMs));
    }
  }

  /** Resolves when all faults are over. */
  async heal(): Promise<void> {
    await Promise.all([...this.#active.values()].map((active) => this.#end(active)));
  }

  #begin(used: typeof kinds): void {
    const { choose, journal } = this.#scene;
    const { name, create } = choose.weighted(used);
    const fault = create(this.#scene);
    if (!fault || this.#active.has(fault.part)) return;
    journal.note(`step ${this.#step}: ${name} (${fault.part})`);
    journal.count(name);
    // A fault fails if the part cannot be reached because of another fault.
    const begun = fault.begin().catch((error) => journal.note(`${name} (${fault.part}) failed: ${error}`));
    const active: Active = { name, fault, begun, until: this.#step + 1 + choose.below(maxSteps) };
    this.#active.set(fault.part, active);
    if (!fault.end) void this.#end(active);
  }

  #end(active: Active): Promise<void> {
    active.ended ??= this.#repair(active);
    return active.ended;
  }

  async #repair({ name, fault, begun }: Active): Promise<void> {
    await begun;
    if (fault.end) await this.#repeat(`the end of ${name} (${fault.part})`, fault.end);
    this.#scene.journal.note(`${name} (${fault.part}) is over`);
    this.#active.delete(fault.part);
  }

  async #repeat(name: string, action: () => Promise<unknown>): Promise<void> {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      try {
        return void (await action());
      } catch (error) {
        this.#scene.journal.note(`${name} failed: ${error}`);
        await wait(retryMs);
      }
    }
  }
}
