import { toName } from '../common/names.ts';
import { findApiKey, revokeApiKey } from '../data/domain/api-keys.ts';
import type { ApiKeyResolvers, CreateApiKeyInput, MutationResolvers } from '../generated/resolver-types.generated.ts';
import { assertMayGrant, assertMayRevoke } from '../identity/access.ts';
import { createApiKey, scopesOf } from '../identity/api-key.ts';
import { changeAccount, changeAsViewer } from './rules/changes.ts';
import { assertInput, problemIf, required } from './rules/input-check.ts';
import { loadReferenced } from './rules/rows.ts';
import * as rules from './rules/validation.ts';

export const ApiKey = {
  scopes: (key) => [...scopesOf(key)],
  user: ({ userId }, _, { loaders }) => loadReferenced(loaders.user, userId),
} satisfies ApiKeyResolvers;

export const apiKeyMutations = {
  createApiKey: (_, { input }, context) =>
    changeAccount(context, async (db, { afterCommit }, viewer) => {
      assertApiKeyInput(input);
      const scopes = [...new Set(input.scopes)];
      assertMayGrant(viewer, scopes);
      const byUserId = viewer.user.id;
      const { name, expiresAt = null } = input;
      const created = await createApiKey(db, { name: toName(name), scopes, ownerId: byUserId, expiresAt });
      afterCommit(() => context.services.audit({ event: 'apiKeyCreated', keyId: created.apiKey.id, byUserId, scopes }));
      return created;
    }),
  async revokeApiKey(_, { input }, context) {
    const apiKey = await changeAsViewer(context, async (db, { announce, afterCommit }, viewer) => {
      const row = assertMayRevoke(viewer, await findApiKey(db, input.id));
      await revokeApiKey(db, row.id);
      announce({ type: 'keyRevoked', keyId: row.id });
      const byUserId = viewer.user.id;
      afterCommit(() => context.services.audit({ event: 'apiKeyRevoked', keyId: row.id, byUserId }));
      return row;
    });
    return { apiKey };
  },
} satisfies MutationResolvers;

function assertApiKeyInput({ name, scopes, expiresAt }: CreateApiKeyInput): void {
  assertInput(
    required('name', name, rules.name),
    problemIf(scopes.length === 0, 'scopes', 'too_short'),
    problemIf(expiresAt != null && expiresAt <= Date.now(), 'expiresAt', 'out_of_range'),
  );
}
