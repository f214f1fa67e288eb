// Generated from packages/pages/console/start.ts by `npm run generate`. Do not edit.
(function(graphql_ws) {
	// packages/pages/session.ts
	var PageSession = class extends EventTarget {
		#key;
		#current;
		constructor(key) {
			super();
			this.#key = key;
			this.#current = JSON.parse(sessionStorage.getItem(key) ?? "null");
		}
		get token() {
			return this.#current?.token;
		}
		get name() {
			return this.#current?.name ?? "";
		}
		start(token, name) {
			this.#store({
				token,
				name
			});
			this.#change();
		}
		renew(to, from) {
			if (from !== void 0 && from === this.token) this.#store({
				token: to,
				name: this.name
			});
		}
		end(reason = "") {
			this.#current = null;
			sessionStorage.removeItem(this.#key);
			this.#change(reason);
		}
		refuse(token) {
			if (token === this.token) this.end("Your session has expired or was revoked. Sign in again.");
		}
		#store(session) {
			this.#current = session;
			sessionStorage.setItem(this.#key, JSON.stringify(session));
		}
		#change(reason = "") {
			this.dispatchEvent(new CustomEvent("change", { detail: reason }));
		}
	};
	// packages/client/src/documents.ts
	const renewSession = "mutation { renewSession { accessToken } }";
	// packages/client/src/failure.ts
	const actions = {
		NO_ANSWER: "repeat",
		RATE_LIMITED: "repeat",
		SERVICE_UNAVAILABLE: "repeat",
		BAD_GATEWAY: "repeat",
		REQUEST_TIMEOUT: "repeat",
		OUTCOME_UNKNOWN: "repeat",
		CURSOR_EXPIRED: "query",
		SLOW_CONSUMER: "query",
		CURSOR_INVALID: "query",
		UNAUTHENTICATED: "signIn",
		NOT_FOUND: "stop",
		ROOM_DELETED: "stop",
		MEMBERSHIP_REVOKED: "stop"
	};
	const unknownOutcomes = ["NO_ANSWER", "OUTCOME_UNKNOWN"];
	const closeCodes = {
		1008: "CONNECTION_ENDED",
		1009: "PAYLOAD_TOO_LARGE",
		4400: "INVALID_REQUEST",
		4403: "UNAUTHENTICATED"
	};
	const isTemporary = (code) => code === void 0 || [
		1e3,
		1001,
		1005,
		1006,
		1012,
		1013,
		1014,
		4408,
		4499
	].includes(code);
	function failureOf(error) {
		const given = error;
		const { message, extensions = {} } = [
			given,
			given?.errors,
			given?.graphQLErrors,
			given?.response?.errors,
			given?.source?.errors
		].find((list) => Array.isArray(list) && list.length > 0)?.[0] ?? { message: given?.reason || given?.message || "no answer" };
		const code = String(extensions["code"] ?? given?.extensions?.code ?? closeCodes[given?.code] ?? "NO_ANSWER");
		const requestId = given?.requestId ?? extensions["requestId"];
		return {
			code,
			message,
			action: actions[code] ?? "show",
			requestId,
			extensions
		};
	}
	function retryOf(error, { isSafe = false, attempt = 0 } = {}) {
		const { code, action, extensions } = failureOf(error);
		if (action !== "repeat" || !isSafe && (unknownOutcomes.includes(code) || isPartial(error))) return void 0;
		const pause = (.5 + Math.random() / 2) * Math.min(3e4, 1e3 * 2 ** attempt);
		return Math.max(pause, Number(extensions["retryAfterMs"] ?? 0));
	}
	function isPartial(error) {
		const { status, response } = error ?? {};
		return (status ?? response?.status) === 294;
	}
	// packages/client/src/sink.ts
	function callSafely(listener) {
		try {
			listener();
		} catch (error) {
			queueMicrotask(() => {
				throw error;
			});
		}
	}
	const toSafeSink = (sink) => ({
		next: (result) => callSafely(() => sink.next(result)),
		error: (error) => callSafely(() => sink.error(error)),
		complete: () => callSafely(() => sink.complete())
	});
	// packages/client/src/resume.ts
	function createResume(onCaughtUp = () => {}) {
		const seen = new Map();
		const stale = new Set();
		const catchingUp = new Set();
		const listeners = new Map();
		const waiting = new WeakMap();
		let events = 0;
		function see(id, { room, cursor, ended, cursors }) {
			if (!seen.has(id)) return;
			if (room === void 0) return void seen.set(id, cursor);
			const rooms = seen.get(id) ?? {};
			if (ended) delete rooms[room];
			else if (cursor !== void 0) rooms[room] = cursor;
			seen.set(id, Object.assign(rooms, cursors));
		}
		function endCatchUp(id) {
			const listener = listeners.get(id);
			listeners.delete(id);
			if (listener) callSafely(listener);
			if (catchingUp.delete(id) && catchingUp.size === 0) onCaughtUp(events);
		}
		function forget(id) {
			seen.delete(id);
			listeners.delete(id);
			endCatchUp(id);
		}
		function forgetStale() {
			for (const id of stale) forget(id);
			stale.clear();
		}
		return {
			connectionParams: () => ({ live: { seen: Object.fromEntries(seen) } }),
			on: {
				connected: (_socket, _payload, wasRetry) => {
					events = 0;
					catchingUp.clear();
					for (const id of seen.keys()) {
						stale.add(id);
						if (wasRetry) catchingUp.add(id);
					}
					if (catchingUp.size === 0) onCaughtUp(0);
				},
				ping: (_received, payload) => {
					const { live = {}, cursors = {}, replays = [], caughtUp = [] } = payload ?? {};
					for (const [id, cursor] of Object.entries(live)) {
						forgetStale();
						if (seen.has(id)) seen.set(id, cursor);
						if (!replays.includes(id)) endCatchUp(id);
					}
					for (const [id, own] of Object.entries(cursors)) Object.assign(seen.get(id) ?? {}, own);
					for (const id of caughtUp) endCatchUp(id);
				},
				message: ({ type, id = "", payload }) => {
					if (id !== "") forgetStale();
					if (type === "error" || type === "complete") return forget(id);
					if (type !== "next") return;
					const live = payload?.extensions?.live;
					if (!live) return endCatchUp(id);
					if (catchingUp.has(id)) events += 1;
					see(id, live);
				}
			},
			jsonMessageReplacer: (key, value) => {
				if (key !== "") return value;
				const { id = "", type, payload } = value;
				stale.delete(id);
				if (type === "complete") forget(id);
				if (type !== "subscribe") return value;
				seen.set(id, seen.get(id));
				const listener = waiting.get(payload);
				waiting.delete(payload);
				if (listener) listeners.set(id, listener);
				return value;
			},
			onCaughtUp: (payload, listener) => waiting.set(payload, listener)
		};
	}
	// packages/client/src/store.ts
	function createStore(initial, start = () => () => {}) {
		let value = initial;
		let stop = () => {};
		const listeners = new Set();
		const update = (change) => {
			value = {
				...value,
				...change
			};
			for (const listener of listeners) callSafely(listener);
		};
		return {
			get: () => value,
			subscribe: (listener) => {
				const own = () => listener();
				listeners.add(own);
				if (listeners.size === 1) stop = start(update);
				return () => {
					if (listeners.delete(own) && listeners.size === 0) stop();
				};
			},
			update
		};
	}
	// packages/client/src/client.ts
	const pongTimeoutMs = 5e3;
	const keepAliveMs = 1e4;
	const maxRetryWaitMs = 5e3;
	const renewEveryMs = 5e3;
	const requestTimeoutMs = 3e4;
	const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
	function createPostroomClient({ url, createClient, token: given, onToken = () => {}, onEnd = () => {}, retryWaitMs = (attempt) => Math.random() * Math.min(maxRetryWaitMs, 500 * 2 ** attempt), webSocket }) {
		const endpoint = new URL(url, globalThis.location?.href).href;
		const connection = createStore({ state: "connecting" });
		const resume = createResume((events) => {
			caughtUp = events;
			showCaughtUp();
		});
		let caughtUp;
		const querying = new Set();
		let token = typeof given === "string" ? given : void 0;
		let sent;
		let isReplaced = false;
		let attempts = 0;
		let renewedAt = 0;
		let socket;
		let pong;
		let wasRefused = false;
		let isRefused = false;
		const authorization = async () => {
			if (typeof given === "function") token = await given();
			return token === void 0 ? {} : { authorization: `Bearer ${token}` };
		};
		async function request(query, variables = {}, { keepalive = false } = {}) {
			const headers = {
				"content-type": "application/json",
				accept: "application/graphql-response+json, application/json",
				...await authorization()
			};
			const body = JSON.stringify({
				query,
				variables
			});
			const signal = AbortSignal.timeout(requestTimeoutMs);
			const response = await fetch(endpoint, {
				method: "POST",
				headers,
				body,
				signal,
				keepalive
			});
			const { data, errors } = await response.json();
			if (data && !errors) return data;
			const { status } = response;
			const requestId = response.headers.get("x-request-id");
			throw Object.assign(new Error(errors?.[0]?.message ?? "no answer"), {
				errors,
				data,
				status,
				requestId
			});
		}
		function sendToken() {
			if (token !== void 0) socket?.send(JSON.stringify({
				type: "ping",
				payload: { authorization: `Bearer ${token}` }
			}));
		}
		function setToken(next) {
			const replaced = token;
			token = next;
			isReplaced = true;
			callSafely(() => onToken(next, replaced));
			sendToken();
		}
		function showCaughtUp() {
			if (caughtUp === void 0) return;
			connection.update(querying.size > 0 ? { state: "catching up" } : {
				state: "live",
				caughtUp
			});
		}
		function setQuerying(owner, isQuerying) {
			if (isQuerying) querying.add(owner);
			else if (!querying.delete(owner)) return;
			showCaughtUp();
		}
		async function renew() {
			const [old, own] = [token, socket];
			for (let ms = renewedAt + renewEveryMs - Date.now(); socket === own; ms = renewEveryMs) {
				if (ms > 0) await wait(ms);
				renewedAt = Date.now();
				try {
					if (typeof given === "function") {
						await authorization();
						if (token !== sent) return sendToken();
					} else {
						const { renewSession: renewSession$1 } = await request(renewSession);
						if (token === old) setToken(renewSession$1.accessToken);
						return;
					}
				} catch (error) {
					if (failureOf(error).action !== "repeat") return;
				}
			}
		}
		function isFinal(code) {
			const mayChange = code === 4403 && !wasRefused;
			wasRefused ||= code === 4403;
			return !isTemporary(code) && !mayChange;
		}
		async function connectionParams() {
			const attempt = attempts;
			try {
				const credentials = await authorization();
				isReplaced = false;
				sent = token;
				return {
					...resume.connectionParams(),
					...credentials
				};
			} catch {
				if (attempt === attempts) live.terminate();
				return {};
			}
		}
		const live = createClient({
			url: endpoint.replace(/^http/, "ws"),
			retryAttempts: Number.POSITIVE_INFINITY,
			retryWait: (attempt) => wait(retryWaitMs(attempt)),
			shouldRetry: () => !isRefused,
			keepAlive: keepAliveMs,
			lazyCloseTimeout: 5e3,
			...webSocket,
			connectionParams,
			jsonMessageReplacer: resume.jsonMessageReplacer,
			on: {
				connecting: () => {
					attempts += 1;
					if (isRefused) connection.update({
						state: "connecting",
						failure: void 0
					});
					isRefused = false;
				},
				connected: (opened, payload, wasRetry) => {
					if (isReplaced) return live.terminate();
					socket = opened;
					wasRefused = false;
					if (wasRetry) connection.update({ state: "catching up" });
					resume.on.connected(opened, payload, wasRetry);
				},
				closed: (event) => {
					const wasConnected = socket !== void 0 || connection.get().state === "stale";
					if (socket) socket.onmessage = null;
					socket = void 0;
					caughtUp = void 0;
					clearTimeout(pong);
					isRefused = isFinal(event.code);
					const state = isRefused ? "refused" : wasConnected && event.code !== 1e3 ? "stale" : "connecting";
					const failure = isRefused ? failureOf(event) : void 0;
					connection.update({
						state,
						failure
					});
					if (failure) callSafely(() => onEnd(failure));
				},
				ping: (received, payload) => {
					if (!received) pong = setTimeout(() => live.terminate(), pongTimeoutMs);
					if (payload?.expiresAt) renew();
					resume.on.ping(received, payload);
				},
				pong: (received) => received && clearTimeout(pong),
				message: (message) => {
					if (message.type === "error") callSafely(() => onEnd(failureOf(message.payload)));
					resume.on.message(message);
				}
			}
		});
		const subscribe = live.subscribe.bind(live);
		live.subscribe = (request, sink) => subscribe(request, toSafeSink(sink));
		return {
			live,
			connection,
			request,
			setToken,
			onCaughtUp: resume.onCaughtUp,
			setQuerying
		};
	}
	// packages/client/src/follow.ts
	const queryAgainMs = 500;
	function follow$1({ client, query, subscription, apply, onCaughtUp = () => {}, onFailure }) {
		let attempt = 0;
		let unsubscribe = () => {};
		let timer;
		let current;
		const owner = {};
		function startIn(ms) {
			current = void 0;
			unsubscribe();
			unsubscribe = () => {};
			clearTimeout(timer);
			timer = setTimeout(() => void start(), ms);
		}
		function fail(error, canQuery = false) {
			const failure = failureOf(error);
			const isLost = canQuery || failure.action === "query";
			const ms = isLost ? 1e3 * attempt : retryOf(error, {
				isSafe: true,
				attempt
			});
			attempt += 1;
			if (isLost) client.setQuerying(owner, true);
			onFailure(failure);
			if (ms !== void 0) startIn(ms);
			else client.setQuerying(owner, false);
		}
		async function start() {
			const run = {};
			current = run;
			const ifCurrent = (act) => (value) => {
				if (current === run) act(value);
			};
			try {
				const applyAnswer = await query();
				if (current !== run) return;
				const request = {
					query: subscription,
					variables: applyAnswer()
				};
				onFailure();
				const end = ifCurrent(() => {
					attempt = 0;
					client.setQuerying(owner, false);
					onCaughtUp();
				});
				client.onCaughtUp(request, () => end(void 0));
				unsubscribe = client.live.subscribe(request, {
					next: ifCurrent(({ data, errors }) => {
						if (!data) return fail({ errors }, true);
						try {
							if (!apply(data)) startIn(queryAgainMs);
							attempt = 0;
						} catch (error) {
							fail(error, true);
							throw error;
						}
					}),
					error: ifCurrent((error) => fail(error)),
					complete: () => {}
				});
			} catch (error) {
				ifCurrent(() => fail(error))(void 0);
			}
		}
		start();
		return () => {
			current = void 0;
			clearTimeout(timer);
			unsubscribe();
			client.setQuerying(owner, false);
		};
	}
	// packages/pages/console/operations.ts
	const signIn = { text: `mutation SignIn($input: SignInInput!) {
  signIn(input: $input) { accessToken user { name role } }
}` };
	const statusChanges = { text: `subscription StatusChanges {
  serverStatusChanged {
    time
    nodes {
      name version nodeVersion startedAt
      connections subscriptions roomsFollowed
      operationsPerSecond failedOperationsPerSecond deliveriesPerSecond lagMs
      slowConsumers queues { name depth } memoryBytes eventLoopLagMs
    }
    database { kind version isUp }
    bus { kind isUp }
    mostFollowedRooms { room { id name } followers }
    errors { code count lastAt }
  }
}` };
	const listConnections = { text: `query Connections($first: Int!, $after: String, $filter: ConnectionFilter) {
  connections(first: $first, after: $after, filter: $filter) {
    total
    pageInfo { hasNextPage endCursor }
    nodes { id viewer { id name } address transport since node subscriptions bytesWaiting lagMs }
  }
}` };
	const readLoad = { text: `query Load($order: LoadOrder!) {
  load(order: $order) {
    users { user { id name } operations deliveries refusals }
    addresses { address operations deliveries refusals }
  }
}` };
	const listRefusals = { text: `query Refusals($requestId: ID) {
  refusals(requestId: $requestId) {
    time node requestId operation code reason viewer { id name } address
  }
}` };
	const endConnection = { text: `mutation EndConnection($input: EndConnectionInput!) {
  endConnection(input: $input) { id }
}` };
	const findUsers = { text: `query FindUsers($id: ID!, $text: String!) {
  user(id: $id) { ...FoundUser }
  users(filter: { name: $text }, limit: 20) { data { ...FoundUser } }
}
fragment FoundUser on User { id name email role createdAt }` };
	const findRooms = { text: `query FindRooms($id: ID!, $text: String!) {
  room(id: $id) { ...FoundRoom }
  roomByName(name: $text) { ...FoundRoom }
  rooms(filter: { name: $text }, limit: 20) { data { ...FoundRoom } }
}
fragment FoundRoom on Room { id name visibility owner { name } createdAt }` };
	const findPosts = { text: `query FindPosts($id: ID!, $text: String!) {
  post(id: $id) { ...FoundPost }
  posts(filter: { title: $text }, limit: 20, order: NEWEST_FIRST) { data { ...FoundPost } }
}
fragment FoundPost on Post { id title author { id name } room { id name } publishedAt }` };
	const muteUser = { text: `mutation MuteUser($input: MuteUserInput!) {
  muteUser(input: $input) { until }
}` };
	const deletePost = { text: `mutation DeletePost($input: DeletePostInput!) {
  deletePost(input: $input) { post { id } }
}` };
	const deleteRoom = { text: `mutation DeleteRoom($input: DeleteRoomInput!) {
  deleteRoom(input: $input) { room { id } }
}` };
	const deleteUser = { text: `mutation DeleteUser($input: DeleteUserInput!) {
  deleteUser(input: $input) { user { id } }
}` };
	// packages/pages/console/client.ts
	const retryRefusedMs = 1e4;
	var ConsoleClient = class {
		#endpoint;
		#session;
		#postroom;
		constructor(endpoint, session) {
			this.#endpoint = endpoint;
			this.#session = session;
			this.#postroom = this.#open();
		}
		async post({ text }, variables) {
			const postroom = this.#postroom;
			try {
				return await postroom.request(text, variables);
			} catch (error) {
				if (postroom === this.#postroom) this.#endSession(failureOf(error));
				throw error;
			}
		}
		follow({ show, showState }) {
			const postroom = this.#open();
			this.#postroom = postroom;
			let reason = "";
			let timer;
			const update = () => {
				const { state } = postroom.connection.get();
				if (reason) showState("Reconnecting…", reason);
				else if (state === "connecting") showState("Connecting…");
				else showState(state === "live" ? "Live" : "Reconnecting…");
			};
			const start = () => follow$1({
				client: postroom,
				query: async () => () => ({}),
				subscription: statusChanges.text,
				apply: ({ serverStatusChanged }) => {
					reason = "";
					update();
					show(serverStatusChanged);
					return true;
				},
				onFailure: (failure) => {
					if (!failure || this.#endSession(failure)) return;
					reason = failure.code === "NO_ANSWER" ? "" : failure.message;
					update();
					if (failure.action === "repeat") return;
					timer = setTimeout(() => {
						stop();
						stop = start();
					}, retryRefusedMs);
				}
			});
			const unsubscribe = postroom.connection.subscribe(update);
			update();
			let stop = start();
			return () => {
				clearTimeout(timer);
				unsubscribe();
				stop();
				postroom.live.dispose();
				this.#postroom = this.#open();
			};
		}
		#open() {
			const { token } = this.#session;
			return createPostroomClient({
				url: this.#endpoint.href,
				createClient: graphql_ws.createClient,
				token,
				onToken: (to, from) => this.#session.renew(to, from)
			});
		}
		#endSession({ code }) {
			if (!(this.#session.token !== void 0) || code !== "UNAUTHENTICATED" && code !== "FORBIDDEN") return false;
			this.#session.end(code === "FORBIDDEN" ? notAdmin(this.#session.name) : "Your session has expired or was revoked. Sign in again.");
			return true;
		}
	};
	function notAdmin(name) {
		return `${name} is not an admin. Only accounts with the role ADMIN can use the console.`;
	}
	// packages/pages/console/dialog-answers.ts
	var DialogAnswers = class {
		#dialog;
		#onAnswer;
		constructor(dialog) {
			this.#dialog = dialog;
			dialog.addEventListener("close", () => this.#take());
		}
		cancel() {
			this.#dialog.close();
		}
		ask() {
			this.#take();
			this.#dialog.returnValue = "";
			this.#dialog.showModal();
			return new Promise((resolve) => {
				this.#onAnswer = resolve;
			});
		}
		#take() {
			if (this.#dialog.open) return;
			this.#onAnswer?.(this.#dialog.returnValue === "confirm");
			this.#onAnswer = void 0;
		}
	};
	// packages/pages/console/elements.ts
	function find(id, type) {
		const element = document.getElementById(id);
		if (element instanceof type) return element;
		throw new Error(`The page has no ${type.name} #${id}.`);
	}
	function setText(element, text) {
		if (element.textContent !== text) element.textContent = text;
	}
	// packages/pages/console/confirm-dialog.ts
	const answers$1 = new DialogAnswers(find("confirm", HTMLDialogElement));
	const box = find("confirm-box", HTMLInputElement);
	function cancelQuestion() {
		answers$1.cancel();
	}
	async function confirmAction({ text, verb, option = "" }) {
		find("confirm-question", HTMLElement).textContent = text;
		find("confirm-verb", HTMLButtonElement).textContent = verb;
		find("confirm-option", HTMLElement).textContent = option;
		find("confirm-choice", HTMLElement).hidden = option === "";
		box.checked = false;
		return await answers$1.ask() ? { isChosen: box.checked } : void 0;
	}
	// packages/pages/console/search.ts
	async function searchUsers(client, text) {
		const { user, users } = await client.post(findUsers, {
			text,
			id: text
		});
		return withoutRepeats([user, ...users.data]);
	}
	async function searchRooms(client, text) {
		const { room, roomByName, rooms } = await client.post(findRooms, {
			text,
			id: text
		});
		return withoutRepeats([
			room,
			roomByName,
			...rooms.data
		]);
	}
	async function searchPosts(client, text) {
		const { post, posts } = await client.post(findPosts, {
			text,
			id: text
		});
		return withoutRepeats([post, ...posts.data]);
	}
	async function findRoomOrThrow(client, text) {
		const found = await searchRooms(client, text);
		const named = found.filter(({ name }) => name === text);
		const room = found.find(({ id }) => id === text) ?? named[0];
		if (!room) throw new Error(`No room has the name or id “${text}”.`);
		if (room.id !== text && named.length > 1) throw new Error(`Several rooms are named “${text}”: use an id.`);
		return room;
	}
	function withoutRepeats(items) {
		return [...new Map(items.flatMap((item) => item ? [[item.id, item]] : [])).values()];
	}
	// packages/pages/console/connection-search.ts
	const form = find("connection-search", HTMLFormElement);
	const user$1 = find("connection-user", HTMLInputElement);
	const transport = find("connection-transport", HTMLSelectElement);
	const address = find("connection-address", HTMLInputElement);
	const choices = find("connection-users", HTMLElement);
	let latest = 0;
	function followConnectionSearch(search) {
		form.addEventListener("submit", (event) => {
			event.preventDefault();
			submit(search).catch(search.showFailure);
		});
		find("connection-clear", HTMLButtonElement).addEventListener("click", () => {
			clearConnectionSearch();
			search.show({});
		});
	}
	function clearConnectionSearch() {
		latest += 1;
		form.reset();
		choices.replaceChildren();
	}
	async function submit({ client, show }) {
		latest += 1;
		const own = latest;
		choices.replaceChildren();
		const filter = readFilter();
		const text = user$1.value.trim();
		if (text === "") return show(filter);
		const users = await searchUsers(client, text);
		if (own !== latest) return;
		const [first, second] = users;
		if (!second) return show({
			...filter,
			viewer: first?.id ?? text
		});
		const buttons = users.map((each) => createChoice(each, () => {
			user$1.value = each.id;
			choices.replaceChildren();
			show({
				...filter,
				viewer: each.id
			});
		}));
		show({
			...filter,
			viewer: text
		}, "Several users match: choose one.");
		choices.replaceChildren(...buttons);
	}
	function readFilter() {
		const from = address.value.trim();
		return {
			...transport.value !== "" && { transport: transport.value },
			...from !== "" && { address: from }
		};
	}
	function createChoice({ name, email, id }, choose) {
		const button = document.createElement("button");
		button.type = "button";
		button.textContent = `${name}, ${email ?? id}`;
		button.addEventListener("click", choose);
		return button;
	}
	// packages/pages/console/format.ts
	const number = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
	const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
	const dateTime = new Intl.DateTimeFormat("en-GB", {
		dateStyle: "medium",
		timeStyle: "medium"
	});
	function formatNumber(value) {
		return number.format(value);
	}
	function formatMs(value) {
		return `${number.format(value)} ms`;
	}
	function formatBytes(bytes) {
		if (bytes < 1e3) return `${bytes} B`;
		if (bytes < 1e6) return `${number.format(bytes / 1e3)} kB`;
		return `${number.format(bytes / 1e6)} MB`;
	}
	function formatTime(iso) {
		return dateTime.format(new Date(iso));
	}
	function formatClock(time) {
		return clock.format(time);
	}
	function formatDuration(from, to) {
		const seconds = Math.max(0, Math.floor((Date.parse(to) - Date.parse(from)) / 1e3));
		const units = [
			[Math.floor(seconds / 86400), "d"],
			[Math.floor(seconds / 3600) % 24, "h"],
			[Math.floor(seconds / 60) % 60, "min"],
			[seconds % 60, "s"]
		];
		const first = units.findIndex(([count]) => count > 0);
		return (first === -1 ? units.slice(-1) : units.slice(first, first + 2)).map(([count, unit]) => `${count} ${unit}`).join(" ");
	}
	function formatInput(time) {
		const offsetMs = new Date(time).getTimezoneOffset() * 6e4;
		return new Date(time - offsetMs).toISOString().slice(0, 16);
	}
	// packages/pages/console/phone.ts
	const phone = matchMedia("(max-width: 40rem)");
	// packages/pages/console/repeat.ts
	async function repeat(refresh, ms, signal) {
		while (!signal.aborted) {
			if (!document.hidden) await refresh();
			await pause(ms, signal);
		}
	}
	async function pause(ms, signal) {
		const either = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
		if (!either.aborted) await new Promise((resolve) => either.addEventListener("abort", resolve));
	}
	// packages/pages/console/table.ts
	function numbers(title, read, format = formatNumber) {
		return {
			title,
			text: (row) => format(read(row)),
			isNumber: true
		};
	}
	var Table = class {
		#body;
		#options;
		#rows = new Map();
		#elements = new Map();
		constructor(table, options) {
			this.#options = options;
			const { columns, actions = [] } = options;
			const heads = columns.map((column) => markColumn(headOf("col", column.title), column));
			if (actions.length > 0) heads.push(headOf("col", actions.length === 1 ? actions[0]?.title : "Actions"));
			const head = table.createTHead();
			const row = head.insertRow();
			row.append(...heads);
			this.#body = table.createTBody();
			table.role = "table";
			row.role = "row";
			for (const group of [head, this.#body]) group.role = "rowgroup";
		}
		show(rows) {
			this.#rows = new Map(rows.map((row, index) => [this.#options.keyOf(row, index), row]));
			for (const [key, element] of this.#elements) {
				if (this.#rows.has(key)) continue;
				element.remove();
				this.#elements.delete(key);
			}
			for (const [index, [key, row]] of [...this.#rows].entries()) {
				const element = this.#elements.get(key) ?? this.#create(key);
				this.#update(element, row);
				const present = this.#body.rows[index];
				if (present !== element) this.#body.insertBefore(element, present ?? null);
			}
		}
		#create(key) {
			const { columns, actions = [] } = this.#options;
			const element = document.createElement("tr");
			element.role = "row";
			this.#elements.set(key, element);
			element.append(...columns.map((column, index) => index === 0 ? markColumn(headOf("row"), column) : cellOf(column)));
			if (actions.length > 0) element.append(this.#createButtons(key, actions));
			return element;
		}
		#createButtons(key, actions) {
			const cell = document.createElement("td");
			cell.role = "cell";
			cell.className = "actions";
			for (const { title, run } of actions) {
				const button = document.createElement("button");
				button.type = "button";
				button.textContent = title;
				button.addEventListener("click", () => {
					const row = this.#rows.get(key);
					if (row) run(row);
				});
				cell.append(button);
			}
			return cell;
		}
		#update(element, row) {
			const { columns, actions = [] } = this.#options;
			for (const [index, { text }] of columns.entries()) {
				const cell = element.cells[index];
				if (cell) setText(cell, text(row));
			}
			const buttons = element.querySelectorAll("button");
			for (const [index, { label }] of actions.entries()) buttons[index]?.setAttribute("aria-label", label(row));
		}
	};
	function headOf(scope, title = "") {
		const head = document.createElement("th");
		head.scope = scope;
		head.role = scope === "col" ? "columnheader" : "rowheader";
		head.textContent = title;
		return head;
	}
	function cellOf(column) {
		const cell = document.createElement("td");
		cell.role = "cell";
		cell.dataset["label"] = column.title;
		return markColumn(cell, column);
	}
	function markColumn(cell, { isNumber, isLong }) {
		if (isNumber) cell.className = "number";
		if (isLong) cell.className = "long";
		return cell;
	}
	// packages/pages/console/connections-view.ts
	const pageSize = 50;
	const phonePageSize = 10;
	const refreshMs$2 = 3e3;
	var ConnectionsView = class {
		#client;
		#found = find("connections-found", HTMLElement);
		#notice = find("connections-notice", HTMLElement);
		#first = find("first-page", HTMLButtonElement);
		#more = find("next-page", HTMLButtonElement);
		#table;
		#filter = {};
		#question = "";
		#after;
		#next;
		#refusal = "";
		#latest = 0;
		constructor(client) {
			this.#client = client;
			this.#table = createTable$1((connection) => void this.#end(connection));
			this.#first.addEventListener("click", () => this.#turn(void 0));
			this.#more.addEventListener("click", () => this.#turn(this.#next));
			followConnectionSearch({
				client,
				show: (filter, question) => this.#search(filter, question),
				showFailure: (error) => setText(this.#notice, failureOf(error).message)
			});
		}
		follow(signal) {
			return repeat(() => this.#refresh(), refreshMs$2, signal);
		}
		clear() {
			cancelQuestion();
			clearConnectionSearch();
			this.#filter = {};
			this.#question = "";
			this.#refusal = "";
			this.#latest += 1;
			this.#after = void 0;
			this.#table.show([]);
			for (const text of [this.#found, this.#notice]) setText(text, "");
		}
		#search(filter, question = "") {
			this.#filter = filter;
			this.#question = question;
			setText(this.#notice, "");
			this.#turn(void 0);
		}
		#turn(after) {
			this.#after = after;
			this.#refresh();
		}
		async #refresh() {
			this.#latest += 1;
			const own = this.#latest;
			try {
				const variables = {
					first: phone.matches ? phonePageSize : pageSize,
					after: this.#after,
					filter: this.#filter
				};
				const { connections } = await this.#client.post(listConnections, variables);
				if (own !== this.#latest) return;
				if (connections.nodes.length === 0 && this.#after !== void 0) return this.#turn(void 0);
				const { hasNextPage, endCursor } = connections.pageInfo;
				this.#next = hasNextPage && endCursor || void 0;
				this.#table.show(connections.nodes);
				this.#showTotal(connections.total);
				this.#showRefusal("");
				this.#first.disabled = this.#after === void 0;
				this.#more.disabled = this.#next === void 0;
			} catch (error) {
				const { code, message } = failureOf(error);
				if (own === this.#latest && code !== "NO_ANSWER") this.#showRefusal(message);
			}
		}
		#showTotal(total) {
			const isFiltered = Object.keys(this.#filter).length > 0;
			setText(this.#found, this.#question || (isFiltered ? describeTotal(total) : ""));
		}
		#showRefusal(message) {
			if (message !== this.#refusal) setText(this.#notice, message);
			this.#refusal = message;
		}
		async #end(connection) {
			const name = describe(connection);
			if (!await confirmAction({
				text: `End ${name}? Its client may connect again.`,
				verb: "End connection"
			})) return;
			try {
				await this.#client.post(endConnection, { input: { id: connection.id } });
				setText(this.#notice, `Ended ${name}.`);
			} catch (error) {
				setText(this.#notice, `Could not end ${name}: ${error instanceof Error ? error.message : error}`);
			}
			await this.#refresh();
		}
	};
	function describeTotal(total) {
		if (total === 0) return "No connection matches the search.";
		return total === 1 ? "1 connection matches the search." : `${formatNumber(total)} connections match the search.`;
	}
	function describe({ viewer, transport, address }) {
		return `the ${nameOf(transport)} of ${viewer?.name ?? "an anonymous viewer"} from ${address}`;
	}
	function nameOf(transport) {
		return {
			SSE: "event stream",
			MULTIPART: "multipart stream",
			WEBSOCKET: "WebSocket"
		}[transport];
	}
	function createTable$1(end) {
		return new Table(find("connections", HTMLTableElement), {
			columns: [
				{
					title: "Viewer",
					text: ({ viewer }) => viewer?.name ?? "anonymous"
				},
				{
					title: "Address",
					text: ({ address }) => address
				},
				{
					title: "Transport",
					text: ({ transport }) => nameOf(transport)
				},
				{
					title: "Since",
					text: ({ since }) => formatTime(since)
				},
				{
					title: "Node",
					text: ({ node }) => node
				},
				numbers("Subscriptions", (connection) => connection.subscriptions),
				numbers("Waiting", (connection) => connection.bytesWaiting, formatBytes),
				numbers("Lag", (connection) => connection.lagMs, formatMs)
			],
			keyOf: ({ id }) => id,
			actions: [{
				title: "End",
				label: (connection) => `End ${describe(connection)}`,
				run: end
			}]
		});
	}
	// packages/pages/console/load-view.ts
	const refreshMs$1 = 1e4;
	const phoneRows$1 = 5;
	var LoadView = class {
		#client;
		#order = find("load-order", HTMLSelectElement);
		#notice = find("load-notice", HTMLElement);
		#users = createTable("load-users", {
			title: "User",
			text: ({ user }) => user?.name ?? "deleted account"
		});
		#addresses = createTable("load-addresses", {
			title: "Address",
			text: ({ address }) => address
		});
		#latest = 0;
		constructor(client) {
			this.#client = client;
			this.#order.addEventListener("change", () => void this.#refresh());
		}
		follow(signal) {
			return repeat(() => this.#refresh(), refreshMs$1, signal);
		}
		clear() {
			this.#latest += 1;
			this.#order.selectedIndex = 0;
			this.#users.show([]);
			this.#addresses.show([]);
			setText(this.#notice, "");
		}
		async #refresh() {
			this.#latest += 1;
			const own = this.#latest;
			const order = this.#order.value;
			try {
				const { load } = await this.#client.post(readLoad, { order });
				if (own !== this.#latest) return;
				const rows = phone.matches ? phoneRows$1 : void 0;
				this.#users.show(load.users.slice(0, rows));
				this.#addresses.show(load.addresses.slice(0, rows));
				const isEmpty = load.addresses.length === 0;
				setText(this.#notice, isEmpty ? `No ${order.toLowerCase()} in the last five minutes.` : "");
			} catch (error) {
				const { code, message } = failureOf(error);
				if (own === this.#latest && code !== "NO_ANSWER") setText(this.#notice, message);
			}
		}
	};
	function createTable(id, first) {
		return new Table(find(id, HTMLTableElement), {
			columns: [
				first,
				numbers("Operations", (load) => load.operations),
				numbers("Deliveries", (load) => load.deliveries),
				numbers("Refusals", (load) => load.refusals)
			],
			keyOf: (load, index) => "user" in load ? load.user?.id ?? `deleted ${index}` : load.address
		});
	}
	// packages/pages/console/mute-dialog.ts
	const answers = new DialogAnswers(find("mute", HTMLDialogElement));
	const room = find("mute-room", HTMLInputElement);
	const until = find("mute-until", HTMLInputElement);
	const dayMs = 864e5;
	function cancelMute() {
		answers.cancel();
	}
	async function askMute(name, givenRoom = "") {
		find("mute-title", HTMLElement).textContent = `Mute ${name} in a room`;
		room.value = givenRoom;
		until.value = formatInput(Date.now() + dayMs);
		if (!await answers.ask()) return void 0;
		return {
			room: room.value.trim(),
			until: until.value === "" ? null : new Date(until.value).toISOString()
		};
	}
	find("mute-cancel", HTMLButtonElement).addEventListener("click", cancelMute);
	// packages/pages/console/moderation-actions.ts
	const userActions = [
		{
			title: "Mute",
			describe: ({ name }) => `mute ${name}`,
			run: (client, user) => mute(client, user)
		},
		{
			title: "End connections",
			describe: ({ name }) => `end connections of ${name}`,
			async run(client, { id, name }) {
				if (!await confirmAction({
					text: `End all connections of ${name}? Clients may connect again.`,
					verb: "End connections"
				})) return void 0;
				return `Ended ${await endConnectionsOf(client, id)} connections of ${name}.`;
			}
		},
		{
			title: "Delete",
			describe: ({ name }) => `delete the account of ${name}`,
			async run(client, { id, name, email }) {
				const answer = await confirmAction({
					text: `Delete the account of ${name}${email === null ? "" : `, ${email}`}? This cannot be undone.`,
					verb: "Delete account",
					option: "Delete the published posts, too"
				});
				if (!answer) return void 0;
				await client.post(deleteUser, { input: {
					id,
					deletePosts: answer.isChosen
				} });
				return `Deleted the account of ${name}.`;
			}
		}
	];
	const roomActions = [{
		title: "Delete",
		describe: ({ name }) => `delete the room ${name}`,
		async run(client, { id, name }) {
			if (!await confirmAction({
				text: `Delete the room ${name} with all its posts? This cannot be undone.`,
				verb: "Delete room"
			})) return void 0;
			await client.post(deleteRoom, { input: { id } });
			return `Deleted the room ${name}.`;
		}
	}];
	const postActions = [{
		title: "Mute author",
		describe: ({ author, room }) => `mute author ${author.name} in ${room.name}`,
		run: (client, { author, room }) => mute(client, author, room.id)
	}, {
		title: "Delete",
		describe: ({ title }) => `delete the post ${title}`,
		async run(client, { id, title, author, room }) {
			if (!await confirmAction({
				text: `Delete the post ${title} of ${author.name} in ${room.name}? This cannot be undone.`,
				verb: "Delete post"
			})) return void 0;
			await client.post(deletePost, { input: { id } });
			return `Deleted the post ${title}.`;
		}
	}];
	async function mute(client, user, givenRoom) {
		const answer = await askMute(user.name, givenRoom);
		if (!answer) return void 0;
		const room = await findRoomOrThrow(client, answer.room);
		const input = {
			user: user.id,
			room: room.id,
			until: answer.until
		};
		const { until } = (await client.post(muteUser, { input })).muteUser;
		if (until === null) return `${user.name} is not muted in ${room.name}.`;
		return `Muted ${user.name} in ${room.name} until ${formatTime(until)}.`;
	}
	async function endConnectionsOf(client, viewer) {
		let ended = 0;
		for (const id of await listConnectionsOf(client, viewer)) try {
			await client.post(endConnection, { input: { id } });
			ended += 1;
		} catch (error) {
			const { code, message } = failureOf(error);
			if (code !== "NOT_FOUND") throw new Error(`${message} ${ended} connections are ended.`);
		}
		return ended;
	}
	async function listConnectionsOf(client, viewer) {
		const ids = [];
		let after;
		do {
			const { connections } = await client.post(listConnections, {
				first: 100,
				after,
				filter: { viewer }
			});
			ids.push(...connections.nodes.map(({ id }) => id));
			after = connections.pageInfo.hasNextPage && connections.pageInfo.endCursor || void 0;
		} while (after !== void 0);
		return ids;
	}
	// packages/pages/console/found-tables.ts
	const idColumn = {
		title: "Id",
		text: ({ id }) => id,
		isLong: true
	};
	const userTable = {
		id: "found-users",
		columns: [
			{
				title: "Name",
				text: ({ name }) => name
			},
			{
				title: "E-mail",
				text: ({ email }) => email ?? "–",
				isLong: true
			},
			{
				title: "Role",
				text: ({ role }) => role === "ADMIN" ? "admin" : "member"
			},
			{
				title: "Created",
				text: ({ createdAt }) => formatTime(createdAt)
			},
			idColumn
		],
		actions: userActions,
		search: searchUsers
	};
	const roomTable = {
		id: "found-rooms",
		columns: [
			{
				title: "Name",
				text: ({ name }) => name
			},
			{
				title: "Visibility",
				text: ({ visibility }) => visibility.toLowerCase()
			},
			{
				title: "Owner",
				text: ({ owner }) => owner?.name ?? "–"
			},
			{
				title: "Created",
				text: ({ createdAt }) => formatTime(createdAt)
			},
			idColumn
		],
		actions: roomActions,
		search: searchRooms
	};
	const postTable = {
		id: "found-posts",
		columns: [
			{
				title: "Title",
				text: ({ title }) => title
			},
			{
				title: "Author",
				text: ({ author }) => author.name
			},
			{
				title: "Room",
				text: ({ room }) => room.name
			},
			{
				title: "Published",
				text: ({ publishedAt }) => publishedAt === null ? "–" : formatTime(publishedAt)
			},
			idColumn
		],
		actions: postActions,
		search: searchPosts
	};
	// packages/pages/console/moderation-view.ts
	var ModerationView = class {
		#client;
		#form = find("moderation", HTMLFormElement);
		#kind = find("moderation-kind", HTMLSelectElement);
		#text = find("moderation-text", HTMLInputElement);
		#notice = find("moderation-notice", HTMLElement);
		#found;
		#latest = 0;
		#repeat = async () => {};
		constructor(client) {
			this.#client = client;
			this.#found = {
				users: this.#create(userTable),
				rooms: this.#create(roomTable),
				posts: this.#create(postTable)
			};
			this.#form.addEventListener("submit", (event) => {
				event.preventDefault();
				this.#search(this.#kind.value, this.#text.value.trim());
			});
		}
		clear() {
			cancelQuestion();
			cancelMute();
			this.#form.reset();
			this.#latest += 1;
			this.#repeat = async () => {};
			this.#clearFound();
		}
		async #search(kind, text) {
			this.#clearFound();
			const found = this.#found[kind];
			if (!found) return;
			this.#repeat = async () => void await this.#show(found, text);
			try {
				const count = await this.#show(found, text);
				if (count !== void 0) setText(this.#notice, count === 0 ? `No ${kind} match “${text}”.` : `${count} found.`);
			} catch (error) {
				setText(this.#notice, `Could not search: ${failureOf(error).message}`);
			}
		}
		async #show(found, text) {
			this.#latest += 1;
			const own = this.#latest;
			const show = await found.search(text);
			return own === this.#latest ? show() : void 0;
		}
		async #run({ run, describe }, row) {
			try {
				const done = await run(this.#client, row);
				if (done === void 0) return;
				setText(this.#notice, done);
				await this.#repeat();
			} catch (error) {
				setText(this.#notice, `Could not ${describe(row)}: ${failureOf(error).message}`);
			}
		}
		#clearFound() {
			for (const { clear } of Object.values(this.#found)) clear();
			setText(this.#notice, "");
		}
		#create({ id, columns, actions, search }) {
			const client = this.#client;
			const region = find(`${id}-region`, HTMLElement);
			const table = new Table(find(id, HTMLTableElement), {
				columns,
				keyOf: (row) => row.id,
				actions: actions.map((action) => ({
					title: action.title,
					label: (row) => capitalise(action.describe(row)),
					run: (row) => void this.#run(action, row)
				}))
			});
			const show = (rows) => {
				region.hidden = rows.length === 0;
				table.show(rows);
				return rows.length;
			};
			return {
				async search(text) {
					const rows = await search(client, text);
					return () => show(rows);
				},
				clear: () => show([])
			};
		}
	};
	function capitalise(text) {
		return text.charAt(0).toUpperCase() + text.slice(1);
	}
	// packages/pages/console/refusals-view.ts
	const refreshMs = 1e4;
	const phoneRows = 10;
	var RefusalsView = class {
		#client;
		#form = find("refusal-search", HTMLFormElement);
		#id = find("refusal-id", HTMLInputElement);
		#notice = find("refusals-notice", HTMLElement);
		#table = new Table(find("refusals", HTMLTableElement), {
			columns: [
				{
					title: "Code",
					text: ({ code }) => code
				},
				{
					title: "Reason",
					text: ({ reason }) => reason,
					isLong: true
				},
				{
					title: "Time",
					text: ({ time }) => formatTime(time)
				},
				{
					title: "Operation",
					text: ({ operation }) => operation ?? "–"
				},
				{
					title: "Viewer",
					text: ({ viewer }) => viewer?.name ?? "–"
				},
				{
					title: "Address",
					text: ({ address }) => address
				},
				{
					title: "Node",
					text: ({ node }) => node
				},
				{
					title: "Request id",
					text: ({ requestId }) => requestId,
					isLong: true
				}
			],
			keyOf: ({ requestId }) => requestId
		});
		#searched = "";
		#latest = 0;
		constructor(client) {
			this.#client = client;
			this.#form.addEventListener("submit", (event) => {
				event.preventDefault();
				this.#search(this.#id.value.trim());
			});
			find("refusal-clear", HTMLButtonElement).addEventListener("click", () => {
				this.#form.reset();
				this.#search("");
			});
		}
		follow(signal) {
			return repeat(() => this.#refresh(), refreshMs, signal);
		}
		clear() {
			this.#latest += 1;
			this.#form.reset();
			this.#searched = "";
			this.#table.show([]);
			setText(this.#notice, "");
		}
		#search(requestId) {
			this.#searched = requestId;
			this.#refresh();
		}
		async #refresh() {
			this.#latest += 1;
			const own = this.#latest;
			const requestId = this.#searched === "" ? void 0 : this.#searched;
			try {
				const { refusals } = await this.#client.post(listRefusals, { requestId });
				if (own !== this.#latest) return;
				this.#table.show(refusals.slice(0, phone.matches ? phoneRows : void 0));
				setText(this.#notice, refusals.length === 0 ? describeNone(requestId) : "");
			} catch (error) {
				const { code, message } = failureOf(error);
				if (own === this.#latest && code !== "NO_ANSWER") setText(this.#notice, message);
			}
		}
	};
	function describeNone(requestId) {
		return requestId === void 0 ? "No refusals so far." : `No refusal has the request id “${requestId}”.`;
	}
	// packages/pages/console/sign-in-view.ts
	var SignInView = class {
		#client;
		#session;
		#form = find("sign-in", HTMLFormElement);
		#email = find("email", HTMLInputElement);
		#password = find("password", HTMLInputElement);
		#button = find("sign-in-button", HTMLButtonElement);
		#alert = find("sign-in-alert", HTMLElement);
		constructor(client, session) {
			this.#client = client;
			this.#session = session;
			this.#form.addEventListener("submit", (event) => {
				event.preventDefault();
				this.#signIn();
			});
		}
		show(reason) {
			this.#form.hidden = false;
			this.#alert.textContent = reason;
			this.#email.focus();
		}
		hide() {
			this.#form.hidden = true;
		}
		async #signIn() {
			this.#button.disabled = true;
			this.#alert.textContent = "";
			try {
				const input = {
					email: this.#email.value,
					password: this.#password.value
				};
				const { accessToken, user } = (await this.#client.post(signIn, { input })).signIn;
				this.#password.value = "";
				if (user.role === "ADMIN") this.#session.start(accessToken, user.name);
				else this.#alert.textContent = notAdmin(user.name);
			} catch (error) {
				const { code, message } = failureOf(error);
				this.#alert.textContent = code === "NO_ANSWER" ? "The server cannot be reached." : message;
			} finally {
				this.#button.disabled = false;
			}
		}
	};
	// packages/pages/console/health.ts
	const maxEventLoopLagMs = 100;
	const maxDeliveryLagMs = 1e3;
	const maxSlowShare = .1;
	const faultCodes = ["INTERNAL_SERVER_ERROR", "OUTCOME_UNKNOWN"];
	const faultWindowMs = 3e5;
	const maxFailedShare = .1;
	const minFailedPerSecond = 5;
	const maxQueueDepth = 100;
	const list = new Intl.ListFormat("en-GB");
	function findReasons(status) {
		return [
			...ofParts(status),
			...ofAllNodes(status),
			...ofSingleNodes(status)
		];
	}
	function ofParts({ database, bus }) {
		return [...when(!database.isUp, "the database is down"), ...when(!bus.isUp, "the bus is down")];
	}
	function ofAllNodes({ nodes, errors, time }) {
		const sum = (read) => nodes.reduce((total, node) => total + read(node), 0);
		const failed = sum((node) => node.failedOperationsPerSecond);
		const isFailing = failed >= minFailedPerSecond && failed > maxFailedShare * sum((node) => node.operationsPerSecond);
		const areSlow = sum((node) => node.slowConsumers) > maxSlowShare * sum((node) => node.subscriptions);
		const since = Date.parse(time) - faultWindowMs;
		const hasFault = errors.some(({ code, lastAt }) => faultCodes.includes(code) && Date.parse(lastAt ?? "") > since);
		const versions = [...new Set(nodes.map(({ version }) => version))];
		return [
			...when(hasFault, "an operation failed in the last five minutes because of the server"),
			...when(isFailing, "more than 10 % of all operations fail"),
			...when(areSlow, "more than 10 % of all subscriptions have slow consumers"),
			...when(versions.length > 1, `the nodes have different versions: ${list.format(versions)}`)
		];
	}
	function ofSingleNodes({ nodes }) {
		const where = (text, isDegraded) => {
			const names = nodes.filter(isDegraded).map(({ name }) => name);
			return when(names.length > 0, `${text} on ${list.format(names)}`);
		};
		return [
			...where("the event loop is delayed by more than 100 ms", (node) => node.eventLoopLagMs > maxEventLoopLagMs),
			...where("events are delivered more than 1 s late", (node) => node.lagMs > maxDeliveryLagMs),
			...where("a queue has more than 100 entries", ({ queues }) => queues.some(({ depth }) => depth > maxQueueDepth))
		];
	}
	function when(isDegraded, reason) {
		return isDegraded ? [reason] : [];
	}
	const maxGapSeconds = 3;
	var History = class {
		#samples;
		constructor(samples = []) {
			this.#samples = [...samples];
		}
		get samples() {
			return this.#samples;
		}
		add({ time: iso, nodes }) {
			const time = Date.parse(iso) / 1e3;
			const latest = this.#samples.at(-1)?.time ?? time;
			if (time < latest) this.clear();
			if (time > latest + maxGapSeconds) this.#samples.push({ time: latest + 1 });
			this.#samples.push({
				time,
				nodes: nodes.map(toPlotted)
			});
			this.#samples = this.#samples.filter((sample) => sample.time >= time - 300);
		}
		clear() {
			this.#samples = [];
		}
		ofNodes({ read }) {
			const names = [...new Set(this.#samples.flatMap(({ nodes = [] }) => nodes.map(({ name }) => name)))].sort();
			const values = names.map((name) => this.#samples.map(({ nodes }) => {
				const node = nodes?.find((candidate) => candidate.name === name);
				return node ? read(node) : null;
			}));
			return {
				names,
				times: this.#times(),
				values
			};
		}
		ofAll({ read, combine }) {
			const values = this.#samples.map(({ nodes }) => nodes ? combine(nodes.map(read)) : null);
			return {
				names: ["all nodes"],
				times: this.#times(),
				values: [values]
			};
		}
		#times() {
			return this.#samples.map(({ time }) => time);
		}
	};
	function toPlotted({ name, operationsPerSecond, deliveriesPerSecond, lagMs }) {
		return {
			name,
			operationsPerSecond,
			deliveriesPerSecond,
			lagMs
		};
	}
	// packages/pages/console/plots.ts
	const height = 180;
	const themes = {
		light: {
			text: "#3d4450",
			grid: "#dfe3ea",
			series: [
				"#4a3bc9",
				"#b3450b",
				"#0b7a53",
				"#a3195b",
				"#1763b5",
				"#6b5900"
			]
		},
		dark: {
			text: "#b9c0cc",
			grid: "#343b47",
			series: [
				"#a79bff",
				"#ff9d5c",
				"#4fd1a1",
				"#ff8ab8",
				"#79b8ff",
				"#e0c84a"
			]
		}
	};
	const dark = matchMedia("(prefers-color-scheme: dark)");
	var Plot = class {
		#measure;
		#latest = document.createElement("output");
		#canvas = document.createElement("div");
		#plot;
		#look = "";
		constructor(figures, title, measure) {
			this.#measure = measure;
			const figure = document.createElement("figure");
			const caption = document.createElement("figcaption");
			caption.append(`${title} `, this.#latest);
			this.#latest.ariaLive = "off";
			this.#canvas.role = "img";
			this.#canvas.ariaLabel = `${title}, last five minutes`;
			figure.append(caption, this.#canvas);
			figures.append(figure);
			new ResizeObserver(() => this.#plot?.setSize({
				width: this.#canvas.clientWidth,
				height
			})).observe(this.#canvas);
		}
		show(history, isPerNode) {
			setText(this.#latest, formatNumber(history.ofAll(this.#measure).values[0]?.at(-1) ?? 0));
			const series = isPerNode ? history.ofNodes(this.#measure) : history.ofAll(this.#measure);
			const look = JSON.stringify([dark.matches, series.names]);
			const data = [series.times, ...series.values];
			if (this.#look === look) return this.#plot?.setData(data);
			this.#look = look;
			this.#plot?.destroy();
			this.#plot = new uPlot(optionsOf(series, this.#canvas.clientWidth), data, this.#canvas);
		}
	};
	function optionsOf({ names }, width) {
		const { text, grid, series: colours } = dark.matches ? themes.dark : themes.light;
		const axis = {
			stroke: text,
			grid: {
				stroke: grid,
				width: 1
			},
			ticks: {
				stroke: grid,
				width: 1
			}
		};
		return {
			width,
			height,
			legend: { show: names.length > 1 },
			cursor: { drag: {
				x: false,
				y: false
			} },
			scales: {
				x: { range: (_plot, _from, to) => [to - 300, to] },
				y: { range: {
					min: {
						pad: 0,
						soft: 0,
						mode: 1
					},
					max: {
						pad: .1,
						soft: 1,
						mode: 1
					}
				} }
			},
			axes: [{
				...axis,
				values: (_plot, times) => times.map(formatTick)
			}, {
				...axis,
				size: 56
			}],
			series: [{ value: (_plot, time) => time === null ? "–" : formatClock(time * 1e3) }, ...names.map((label, index) => ({
				label,
				stroke: colours[index % colours.length] ?? text,
				width: 1.5,
				points: { show: false },
				value: (_plot, value) => value === null ? "–" : formatNumber(value)
			}))]
		};
	}
	function formatTick(time) {
		const clock = formatClock(time * 1e3);
		return phone.matches ? clock.slice(0, 5) : clock;
	}
	const sum = (values) => values.reduce((total, value) => total + value, 0);
	const highest = (values) => Math.max(0, ...values);
	function createPlots(figures, redraw) {
		dark.addEventListener("change", redraw);
		return [
			new Plot(figures, "Operations per second", {
				read: (node) => node.operationsPerSecond,
				combine: sum
			}),
			new Plot(figures, "Deliveries per second", {
				read: (node) => node.deliveriesPerSecond,
				combine: sum
			}),
			new Plot(figures, "Lag in ms, highest of all nodes", {
				read: (node) => node.lagMs,
				combine: highest
			})
		];
	}
	// packages/pages/console/stored-history.ts
	const key = "postroom:console:history";
	const maxLength = 1e6;
	function readStoredHistory() {
		return JSON.parse(sessionStorage.getItem(key) ?? "[]");
	}
	function storeHistory(samples) {
		const text = JSON.stringify(samples);
		if (samples.length > 0 && text.length <= maxLength) sessionStorage.setItem(key, text);
		else sessionStorage.removeItem(key);
	}
	// packages/pages/console/status-view.ts
	var StatusView = class {
		#health = find("health", HTMLElement);
		#database = find("database", HTMLElement);
		#bus = find("bus", HTMLElement);
		#total = find("total", HTMLElement);
		#perNode = find("per-node", HTMLInputElement);
		#history = new History(readStoredHistory());
		#plots = createPlots(find("plots", HTMLElement), () => this.#draw());
		#nodes = createNodeTable();
		#rooms = new Table(find("rooms", HTMLTableElement), {
			columns: [{
				title: "Room",
				text: ({ room }) => room?.name ?? "unknown"
			}, numbers("Followers", (room) => room.followers)],
			keyOf: ({ room }, index) => room?.id ?? `unknown ${index}`
		});
		#errors = new Table(find("errors", HTMLTableElement), {
			columns: [
				{
					title: "Code",
					text: ({ code }) => code
				},
				numbers("Operations", (error) => error.count),
				{
					title: "Last",
					text: ({ lastAt }) => lastAt === null ? "–" : formatTime(lastAt)
				}
			],
			keyOf: ({ code }) => code
		});
		constructor() {
			this.#perNode.addEventListener("change", () => this.#draw());
			addEventListener("pagehide", () => storeHistory(this.#history.samples));
		}
		show(status) {
			const { database, bus, time } = status;
			this.#showHealth(findReasons(status));
			showPart(this.#database, `${database.kind} ${database.version}`, database.isUp);
			showPart(this.#bus, bus.kind, bus.isUp);
			setText(this.#total, formatNumber(status.nodes.reduce((total, { connections }) => total + connections, 0)));
			this.#nodes.show(status.nodes.map((node) => ({
				...node,
				uptime: formatDuration(node.startedAt, time)
			})));
			this.#rooms.show(status.mostFollowedRooms);
			this.#errors.show(status.errors);
			this.#history.add(status);
			this.#draw();
		}
		markOld() {
			setText(this.#health, "Unknown: the page is not connected");
			this.#health.className = "";
			this.#draw();
		}
		clear() {
			setText(this.#health, "");
			for (const table of [
				this.#nodes,
				this.#rooms,
				this.#errors
			]) table.show([]);
			for (const part of [
				this.#database,
				this.#bus,
				this.#total
			]) setText(part, "");
			this.#history.clear();
			storeHistory([]);
			this.#draw();
		}
		#showHealth(reasons) {
			const isHealthy = reasons.length === 0;
			setText(this.#health, isHealthy ? "Healthy" : `Degraded: ${reasons.join("; ")}`);
			this.#health.className = isHealthy ? "healthy" : "degraded";
		}
		#draw() {
			for (const plot of this.#plots) plot.show(this.#history, this.#perNode.checked);
		}
	};
	function showPart(element, name, isUp) {
		setText(element, `${name}, ${isUp ? "up" : "down"}`);
		element.classList.toggle("down", !isUp);
	}
	function createNodeTable() {
		return new Table(find("nodes", HTMLTableElement), {
			columns: [
				{
					title: "Node",
					text: ({ name }) => name
				},
				{
					title: "Version",
					text: ({ version, nodeVersion }) => `${version}, Node ${nodeVersion.replace(/^v/, "")}`
				},
				{
					title: "Up for",
					text: ({ uptime }) => uptime,
					isNumber: true
				},
				numbers("Memory", (node) => node.memoryBytes, formatBytes),
				numbers("Event loop", (node) => node.eventLoopLagMs, formatMs),
				numbers("Connections", (node) => node.connections),
				numbers("Subscriptions", (node) => node.subscriptions),
				numbers("Rooms", (node) => node.roomsFollowed),
				numbers("Operations per s", (node) => node.operationsPerSecond),
				numbers("Failed per s", (node) => node.failedOperationsPerSecond),
				numbers("Deliveries per s", (node) => node.deliveriesPerSecond),
				numbers("Lag", (node) => node.lagMs, formatMs),
				numbers("Slow consumers", (node) => node.slowConsumers),
				{
					title: "Queues",
					text: ({ queues }) => listQueues(queues) || "empty"
				}
			],
			keyOf: ({ name }) => name
		});
	}
	function listQueues(queues) {
		return queues.filter(({ depth }) => depth > 0).map(({ name, depth }) => `${name} ${formatNumber(depth)}`).join(", ");
	}
	// packages/pages/console/start.ts
	const session = new PageSession("postroom:console");
	const client = new ConsoleClient(new URL("graphql", location.href), session);
	const status = find("status", HTMLElement);
	const user = find("user", HTMLElement);
	const signOut = find("sign-out", HTMLButtonElement);
	const state = find("state", HTMLElement);
	const signInView = new SignInView(client, session);
	const statusView = new StatusView();
	const loadView = new LoadView(client);
	const refusalsView = new RefusalsView(client);
	const connectionsView = new ConnectionsView(client);
	const moderationView = new ModerationView(client);
	let stop = () => {};
	function follow(reason = "") {
		stop();
		stop = () => {};
		const isSignedIn = session.token !== void 0;
		status.hidden = !isSignedIn;
		signOut.hidden = !isSignedIn;
		setText(user, isSignedIn ? `Signed in as ${session.name}` : "");
		if (isSignedIn) return start();
		showState("");
		for (const view of [
			statusView,
			loadView,
			refusalsView,
			connectionsView,
			moderationView
		]) view.clear();
		signInView.show(reason);
	}
	function start() {
		const running = new AbortController();
		signInView.hide();
		const stopStatus = client.follow({
			show: (latest) => statusView.show(latest),
			showState
		});
		for (const view of [
			loadView,
			refusalsView,
			connectionsView
		]) view.follow(running.signal);
		stop = () => {
			running.abort();
			stopStatus();
		};
	}
	function showState(name, reason = "") {
		setText(state, `${name} ${reason}`.trim());
		const isOld = name === "Reconnecting…";
		state.classList.toggle("down", isOld);
		if (isOld) statusView.markOld();
	}
	session.addEventListener("change", (event) => follow(event instanceof CustomEvent ? event.detail : ""));
	signOut.addEventListener("click", () => session.end());
	follow();
})(graphqlWs);
