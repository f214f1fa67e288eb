import { findApiKey, insertApiKey, revokeApiKey } from '../data/api-keys.ts';
import { assertMayGrant, assertMayRevoke } from '../identity/access.ts';
import { createApiKey } from '../identity/api-key.ts';
import { scopesOf } from '../identity/application.ts';
import { changeAccount, changeAsViewer } from './changes.ts';
import type { ApiKeyResolvers, CreateApiKeyInput, MutationResolvers } from './resolver-types.generated.ts';
import { loadReferred } from './rows.ts';
import { InputCheck, name } from './validation.ts';

export const ApiKey: ApiKeyResolvers = {
  scopes: (key) => [...scopesOf(key)],
  user: ({ userId }, _, { loaders }) => loadReferred(loaders.user, userId),
};

export const apiKeyMutations: MutationResolvers = {
  async createApiKey(_, { input }, context) {
    const { key, ...made } = createApiKey();
    const apiKey = await changeAccount(context, async (db, { afterCommit }, viewer) => {
      assertApiKeyInput(input);
      const scopes = [...new Set(input.scopes)];
      assertMayGrant(viewer, scopes);
      const byUserId = viewer.user.id;
      const { name, expiresAt = null } = input;
      const row = await insertApiKey(db, { ...made, name, scopes, ownerId: byUserId, expiresAt });
      afterCommit(() => context.services.audit({ event: 'apiKeyCreated', keyId: row.id, byUserId, scopes }));
      return row;
    });
    return { key, apiKey };
  },
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
};

function assertApiKeyInput({ name: given, scopes, expiresAt }: CreateApiKeyInput): void {
  const check = new InputCheck();
  check.required('name', given, name);
  if (scopes.length === 0) check.add('scopes', 'too_short');
  if (expiresAt != null && expiresAt <= Date.now()) check.add('expiresAt', 'out_of_range');
  check.assertValid();
}
