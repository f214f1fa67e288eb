// Generated from packages/pages/graphiql/start.js by `npm run generate`. Do not edit.
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
	// packages/pages/graphiql/demo.js
	async function startDemo({ client, session, workspace, panel }) {
		const name = `Demo ${randomText(3)}`;
		if (!session.token) await postOrThrow(client, "SignUp", { account: {
			name,
			email: `${randomText(8)}@example.org`,
			password: randomText(16)
		} });
		const { createRoom } = await postOrThrow(client, "CreateRoom", { room: { name } });
		const room = createRoom.room.id;
		panel.show(client.stream(toRequest("WatchRoom", { room })));
		workspace.fillRoom(room);
		workspace.select("CreatePost");
		return name;
	}
	async function postOrThrow(client, operation, variables) {
		const { data, errors } = await client.post(toRequest(operation, variables));
		if (errors) throw new Error(errors[0].message);
		return data;
	}
	function toRequest(operationName, variables) {
		const { query } = options.defaultTabs.find((tab) => tab.query.includes(` ${operationName}(`));
		return {
			query,
			operationName,
			variables
		};
	}
	function randomText(bytes) {
		return [...crypto.getRandomValues(new Uint8Array(bytes))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
	}
	// packages/pages/graphiql/guide.js
	const reasons = {
		users: "On this server, accounts are created by its operator or with an invitation. With an account, run SignIn in the tab SignUp; then “Try it” creates a room of your own.",
		nobody: "This server runs only trusted documents. It refuses the documents of these tabs."
	};
	var Guide = class {
		#section = document.querySelector("#guide-content").content.querySelector("#guide");
		constructor(session) {
			const show = () => this.#show(session);
			show();
			session.addEventListener("change", show);
			const observer = new MutationObserver(() => this.#place(observer));
			observer.observe(document.querySelector("#root"), {
				childList: true,
				subtree: true
			});
		}
		markStep(number) {
			const steps = this.#section.querySelectorAll("#guide-steps li");
			for (const [index, step] of steps.entries()) {
				step.toggleAttribute("data-done", index < number);
				if (index === number) step.setAttribute("aria-current", "step");
				else step.removeAttribute("aria-current");
			}
		}
		#show(session) {
			const isOffered = mayTry(session);
			const reason = this.#section.querySelector("#guide-reason");
			this.#section.querySelector("#guide-title").textContent = isOffered ? "A live event in two clicks" : "First steps";
			this.#section.querySelector("#guide-steps").hidden = !isOffered;
			reason.hidden = isOffered;
			reason.textContent = isOffered ? "" : reasons[whoMayTry];
		}
		#place(observer) {
			const pane = document.querySelector("#root .graphiql-response");
			if (!pane) return;
			observer.disconnect();
			pane.append(this.#section);
		}
	};
	function mayTry({ token }) {
		return whoMayTry === "everybody" || whoMayTry === "users" && token !== void 0;
	}
	// packages/pages/graphiql/bar.js
	function showBar(parts) {
		const { session, panel, guide } = parts;
		const [notice, user, signOut, tryIt] = [
			"notice",
			"user",
			"sign-out",
			"try-it"
		].map((id) => document.querySelector(`#${id}`));
		const notify = (text, isFault = false) => {
			notice.textContent = text;
			notice.classList.toggle("fault", isFault);
		};
		const show = ({ detail = "" } = {}) => {
			notify(detail, true);
			user.textContent = session.token ? `Signed in${session.name ? ` as ${session.name}` : ""}` : "Not signed in";
			signOut.hidden = !session.token;
			tryIt.hidden = !mayTry(session);
		};
		show();
		session.addEventListener("change", show);
		signOut.addEventListener("click", () => session.end());
		tryIt.addEventListener("click", async () => {
			tryIt.disabled = true;
			try {
				const room = await startDemo(parts);
				guide.markStep(1);
				notify(`The room “${room}” is ready. Next: press play, which creates a post in it.`);
				const onEvent = () => {
					guide.markStep(2);
					notify("The post has arrived as a live event. Change the text under Variables, and press play again.");
				};
				panel.addEventListener("event", onEvent, { once: true });
			} catch (error) {
				notify(error.message, true);
			}
			tryIt.disabled = false;
		});
	}
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
	// packages/pages/graphiql/client.ts
	var Client = class {
		#endpoint;
		#session;
		constructor(endpoint, session) {
			this.#endpoint = endpoint;
			this.#session = session;
		}
		async post(request, headers = {}) {
			const result = await this.#postWithSession(request, headers);
			const token = Object.values(result.data ?? {}).find((payload) => payload?.accessToken)?.accessToken;
			if (token) this.#session.start(token, await this.#nameOf(token));
			return result;
		}
		async #postWithSession(request, headers) {
			const { token } = this.#session;
			if (!token || authorizationOf(headers)) return (await this.#send(request, headers)).result;
			const answer = await this.#send(request, withToken(token, headers));
			if (!isRefused(answer)) return answer.result;
			this.#session.refuse(token);
			return (await this.#send(request, headers)).result;
		}
		async #nameOf(token) {
			const { result } = await this.#send({ query: "{ viewer { name } }" }, withToken(token));
			return result.data?.viewer?.name;
		}
		async #send(request, given) {
			const headers = new Headers(given);
			headers.set("content-type", "application/json");
			headers.set("accept", "application/graphql-response+json, application/json");
			const response = await fetch(this.#endpoint, {
				method: "POST",
				headers,
				body: JSON.stringify(request)
			});
			return {
				status: response.status,
				result: await response.json()
			};
		}
		stream(request, headers = {}) {
			const session = this.#session;
			const typed = authorizationOf(headers)?.replace(/^bearer +/i, "");
			let own = typed ?? session.token;
			const { live, connection } = createPostroomClient({
				url: this.#endpoint.href,
				createClient: graphql_ws.createClient,
				token: own,
				onToken: (to, from) => {
					if (!typed) session.renew(to, from);
					own = to;
				},
				onEnd: ({ code }) => {
					if (code === "UNAUTHENTICATED" && !typed && own) session.refuse(own);
				}
			});
			const usesSession = !typed && session.token !== void 0;
			let sink;
			let unsubscribe;
			const stop = () => {
				session.removeEventListener("change", onChange);
				unsubscribe?.();
			};
			const onChange = (event) => {
				if (usesSession && !session.token && event instanceof CustomEvent && event.detail === "") stop();
			};
			const start = () => {
				session.addEventListener("change", onChange);
				unsubscribe = live.subscribe(request, {
					next: (result) => sink.next(result),
					error: (fault) => sink.error(toReadable(fault)),
					complete: () => sink.complete()
				});
			};
			const sendTo = (next) => {
				sink = next;
				if (!unsubscribe) start();
			};
			return {
				name: request.operationName ?? "Subscription",
				connection,
				sendTo,
				stop
			};
		}
	};
	function withToken(token, given = {}) {
		const headers = new Headers(given);
		headers.set("authorization", `Bearer ${token}`);
		return headers;
	}
	function authorizationOf(headers) {
		return new Headers(headers).get("authorization");
	}
	function isRefused({ status, result }) {
		const [error] = result.errors ?? [];
		return status === 401 && error?.path === void 0;
	}
	function toReadable(fault) {
		if (fault instanceof CloseEvent) return { message: `The WebSocket was closed: ${fault.code} ${fault.reason}` };
		return fault instanceof Event ? { message: "The WebSocket could not be opened." } : fault;
	}
	// packages/pages/graphiql/live-panel.js
	const maxEvents = 100;
	var LivePanel = class extends EventTarget {
		#panel = document.querySelector("#live");
		#state = document.querySelector("#live-state");
		#count = document.querySelector("#live-count");
		#events = document.querySelector("#live-events");
		#toggle = document.querySelector("#live-toggle");
		#stream;
		#hasEnded = false;
		#notice = "";
		#total = 0;
		#isAway = false;
		#unfollow = () => {};
		constructor() {
			super();
			document.querySelector("#live-close").addEventListener("click", () => this.#close());
			this.#toggle.addEventListener("click", () => this.#open(this.#toggle.ariaExpanded !== "true"));
		}
		show(stream) {
			const stopped = this.#hasEnded ? void 0 : this.#stream?.name;
			this.#notice = stopped ? ` ${stopped} was stopped: only one subscription continues here.` : "";
			this.#close();
			this.#stream = stream;
			this.#hasEnded = false;
			this.#say("waiting for events.");
			this.#panel.hidden = false;
			const sink = {
				next: (result) => this.#add(result),
				error: (fault) => this.#end(`ended: ${fault.message ?? fault[0]?.message}`),
				complete: () => this.#end("ended.")
			};
			this.#unfollow = stream.connection.subscribe(() => this.#follow(stream.connection.get()));
			stream.sendTo(Object.fromEntries(Object.entries(sink).map(([name, act]) => [name, this.#ifCurrent(stream, act)])));
		}
		#ifCurrent(stream, act) {
			return (value) => {
				if (stream === this.#stream) act(value);
			};
		}
		#say(text) {
			this.#state.textContent = `${this.#stream.name}: ${text}${this.#notice}`;
		}
		#end(text) {
			this.#hasEnded = true;
			this.#unfollow();
			this.#say(text);
		}
		#add(result) {
			const event = describe(result);
			this.#total += 1;
			this.#countEvents();
			if (!this.#isAway) this.#say("live.");
			this.#events.prepend(toItem(event));
			if (this.#events.childElementCount > maxEvents) this.#events.lastElementChild.remove();
			this.dispatchEvent(new Event("event"));
		}
		#countEvents() {
			this.#count.textContent = this.#total === 0 ? "" : countOf(this.#total);
		}
		#follow({ state, caughtUp }) {
			if (state === "stale") this.#say("the connection is lost. Reconnecting …");
			if (state === "live" && this.#isAway) this.#say(`reconnected, ${caughtUp === 0 ? "0 missed" : `${countOf(caughtUp)} while away, 0 missed`}.`);
			this.#isAway = state === "stale" || state === "catching up";
		}
		#open(isOpen) {
			this.#toggle.ariaExpanded = String(isOpen);
			this.#panel.toggleAttribute("data-open", isOpen);
		}
		#close() {
			this.#unfollow();
			this.#isAway = false;
			this.#stream?.stop();
			this.#stream = void 0;
			this.#panel.hidden = true;
			this.#open(false);
			this.#events.replaceChildren();
			this.#total = 0;
			this.#countEvents();
		}
	};
	function countOf(events) {
		return `${events} ${events === 1 ? "event" : "events"}`;
	}
	function describe({ data, errors }) {
		const [[field, value] = []] = Object.entries(data ?? {});
		const at = value?.at ?? new Date().toISOString();
		const json = JSON.stringify(errors ?? data, null, 2);
		if (errors) return {
			at,
			type: "Error",
			actor: errors[0].message,
			json
		};
		const actor = value?.actor === void 0 ? JSON.stringify(value) : value.actor?.name ?? "a deleted user";
		return {
			at,
			type: value?.__typename ?? field,
			actor,
			json
		};
	}
	function toItem({ at, type, actor, json }) {
		const time = create("time", new Date(at).toLocaleTimeString([], { hourCycle: "h23" }));
		time.dateTime = at;
		const name = create("span", type);
		name.className = "type";
		const [summary, details, item] = [
			"summary",
			"details",
			"li"
		].map((tag) => create(tag));
		summary.append(time, " ", name, " ", actor);
		details.append(summary, create("pre", json));
		item.append(details);
		return item;
	}
	function create(tag, text = "") {
		return Object.assign(document.createElement(tag), { textContent: text });
	}
	// packages/pages/graphiql/storage.js
	const prefix = "postroom:";
	function storedKeys() {
		return Object.keys(localStorage).filter((key) => key.startsWith(prefix));
	}
	const storage = {
		getItem: (key) => localStorage.getItem(prefix + key),
		setItem: (key, value) => localStorage.setItem(prefix + key, value),
		removeItem: (key) => localStorage.removeItem(prefix + key),
		clear: () => storedKeys().map((key) => localStorage.removeItem(key)),
		get length() {
			return storedKeys().length;
		}
	};
	// packages/pages/graphiql/workspace.js
	const roomKey = "postroom:room";
	var Workspace = class {
		#state = {
			tabs: [],
			activeTabIndex: 0
		};
		#panel;
		#left;
		constructor(panel) {
			this.#panel = panel;
		}
		onTabChange(state) {
			this.#state = state;
			for (const tab of state.tabs) nameTab(tab);
			const left = this.#left;
			this.#left = void 0;
			if (left && state.tabs.some(({ id }) => id === left.tab)) this.#panel.show(left.stream);
			else left?.stream.stop();
		}
		run(stream) {
			const tab = this.#state.tabs[this.#state.activeTabIndex]?.id;
			return { subscribe: (observer) => {
				stream.sendTo(observer);
				return { unsubscribe: () => this.#leave({
					stream,
					tab
				}) };
			} };
		}
		#leave(left) {
			this.#left = left;
			queueMicrotask(() => {
				if (this.#left !== left) return;
				this.#left = void 0;
				left.stream.stop();
			});
		}
		fillRoom(id) {
			if (this.#state.tabs.length === 0) document.querySelector(".graphiql-tab-button")?.click();
			const previous = [roomPlaceholder, sessionStorage.getItem(roomKey) ?? id];
			sessionStorage.setItem(roomKey, id);
			for (const tab of this.#state.tabs) for (const text of previous) tab.variables = tab.variables?.replaceAll(text, id) ?? null;
		}
		select(title) {
			const index = this.#state.tabs.findIndex((tab) => tab.title === title);
			document.querySelectorAll(".graphiql-tab-button")[index]?.click();
		}
	};
	function nameTab(tab) {
		const [, name] = /^(?:query|mutation|subscription)\s+(\w+)/m.exec(tab.query ?? "") ?? [];
		if (name) tab.title = name;
	}
	// packages/pages/graphiql/start.js
	const session = new PageSession("postroom:session");
	const client = new Client(new URL(location.pathname, location.origin), session);
	const panel = new LivePanel();
	const workspace = new Workspace(panel);
	async function fetcher(request, { headers: typed, documentAST } = {}) {
		const headers = new Headers(typed);
		if (/^(bearer)?$/i.test(headers.get("authorization") ?? "")) headers.delete("authorization");
		const operation = operationOf(request, documentAST);
		if (operation?.operation === "subscription") return workspace.run(client.stream(request, headers));
		const result = await client.post(request, headers);
		const created = operation?.selectionSet.selections.find(({ name }) => name?.value === "createRoom");
		const room = created && result.data?.[(created.alias ?? created.name).value]?.room?.id;
		if (room) workspace.fillRoom(room);
		return result;
	}
	function operationOf({ operationName }, document) {
		const operations = document?.definitions.filter(({ kind }) => kind === "OperationDefinition") ?? [];
		return operations.find(({ name }) => name?.value === operationName) ?? operations[0];
	}
	const workerUrls = Object.fromEntries(Object.entries(workers).map(([label, source]) => [label, URL.createObjectURL(new Blob([source], { type: "text/javascript" }))]));
	self.MonacoEnvironment = {
		globalAPI: false,
		getWorkerUrl: (_module, label) => workerUrls[label]
	};
	const graphiql = {
		...options,
		fetcher,
		storage,
		shouldPersistHeaders: false,
		onTabChange: (state) => workspace.onTabChange(state),
		onEditQuery: () => {}
	};
	storage.removeItem("graphiql:headers");
	showBar({
		client,
		session,
		workspace,
		panel,
		guide: new Guide(session)
	});
	Promise.allSettled([...document.fonts].map((font) => font.load())).then(() => {
		YogaGraphiQL.renderYogaGraphiQL(document.querySelector("#root"), graphiql);
	});
})(graphqlWs);
